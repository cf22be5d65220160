import type { Point } from "../../domain/coverage/geo.ts";
import type { CallSpan } from "../../pipeline/call.ts";

export interface AddressQuery {
  readonly text: string;
  /** Where matches are preferred; undefined for anywhere. */
  readonly near: Point | undefined;
  /** How many at most, 1 to 10. */
  readonly limit: number;
}

/** How exact the point of an address is: of the building itself, along its street, or of a quarter and more. */
export type AddressPrecision = "building" | "street" | "area";

export interface FoundAddress extends Point {
  /** In one line; 1 to 300 characters. */
  readonly label: string;
  readonly precision: AddressPrecision;
  /** How sure the geocoder is of the match, 0 to 1; undefined where unknown. */
  readonly confidence: number | undefined;
}

/** Rejects with `GeocoderUnavailable` alone. */
export interface Geocoder {
  /** Whose data it is, to be shown beside it. */
  readonly attribution: string;
  /** The addresses that match a text, the best first. */
  search(query: AddressQuery, span?: CallSpan): Promise<readonly FoundAddress[]>;
  /** The address at a point, or near it, one at most; none where none is known. */
  reverse(point: Point, span?: CallSpan): Promise<readonly FoundAddress[]>;
  close(): Promise<void>;
}

/** `limited` when the geocoder wants a pause, `failed` when its answer is of no use. */
export const GEOCODER_OUTCOMES = ["ok", "limited", "failed", "unanswered"] as const;

export type GeocoderOutcome = (typeof GEOCODER_OUTCOMES)[number];

/** The geocoder gave no answer that can be used. */
export class GeocoderUnavailable extends Error {
  readonly outcome: GeocoderOutcome;
  readonly retryAfterSeconds: number;

  /** @param message without what was searched for */
  constructor(outcome: GeocoderOutcome, message: string, retryAfterSeconds = 1) {
    super(message);
    this.outcome = outcome;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A request below the address of the geocoder. */
export interface GeocoderRequest {
  /** Such as `/search`. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string | number>>;
}

/** The requests to one kind of geocoder, and what its answers mean. The readers throw at other answers. */
export interface GeocoderAdapter {
  /** Whose data it is unless the operator says. */
  readonly attribution: string;
  searchRequest(query: AddressQuery): GeocoderRequest;
  readSearch(answer: unknown): readonly FoundAddress[];
  reverseRequest(point: Point): GeocoderRequest;
  /** Those at a point, the nearest first. */
  readReverse(answer: unknown): readonly FoundAddress[];
}

const MAX_LABEL = 300;

/** A label without control characters and doubled blanks, and not longer than labels may be. */
export function labelOf(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, MAX_LABEL)
    .trimEnd()
    .toWellFormed();
}
