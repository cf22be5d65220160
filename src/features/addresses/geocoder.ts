import type { Point } from "../../domain/coverage/geo.ts";
import type { CallSpan } from "../../pipeline/call.ts";

export interface AddressQuery {
  readonly text: string;
  /** Point near which matches are preferred. `undefined` for no preference. */
  readonly near: Point | undefined;
  /** Maximum number of addresses, 1 to 10. */
  readonly limit: number;
}

/** Precision of an address's point: the building, a point on the street, or the middle of a larger area. */
export type AddressPrecision = "building" | "street" | "area";

export interface FoundAddress extends Point {
  /** On one line, with 1 to 300 characters. */
  readonly label: string;
  readonly precision: AddressPrecision;
  /** Confidence of the geocoder in the match, 0 to 1. `undefined` if unknown. */
  readonly confidence: number | undefined;
}

/** Rejects only with `GeocoderUnavailable`. */
export interface Geocoder {
  /** Source of the data, which must be displayed beside it. */
  readonly attribution: string;
  /** Returns the addresses that match a text, best match first. */
  search(query: AddressQuery, span?: CallSpan): Promise<readonly FoundAddress[]>;
  /** Returns at most one address at or near a point. Empty if no address is known. */
  reverse(point: Point, span?: CallSpan): Promise<readonly FoundAddress[]>;
  close(): Promise<void>;
}

/** `limited` if the geocoder requests a pause, `failed` if its response is unusable. */
export const GEOCODER_OUTCOMES = ["ok", "limited", "failed", "unanswered"] as const;

export type GeocoderOutcome = (typeof GEOCODER_OUTCOMES)[number];

/** The geocoder returned no usable response. */
export class GeocoderUnavailable extends Error {
  readonly outcome: GeocoderOutcome;
  readonly retryAfterSeconds: number;

  /** @param message without the search text */
  constructor(outcome: GeocoderOutcome, message: string, retryAfterSeconds = 1) {
    super(message);
    this.outcome = outcome;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A request below the base URL of the geocoder. */
export interface GeocoderRequest {
  /** Such as `/search`. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string | number>>;
}

/** Builds the requests to one kind of geocoder and parses its responses. The readers throw on malformed responses. */
export interface GeocoderAdapter {
  /** Default attribution. */
  readonly attribution: string;
  searchRequest(query: AddressQuery): GeocoderRequest;
  readSearch(answer: unknown): readonly FoundAddress[];
  reverseRequest(point: Point): GeocoderRequest;
  /** Reads the addresses at a point, nearest first. */
  readReverse(answer: unknown): readonly FoundAddress[];
}

const MAX_LABEL = 300;

/** Returns a label without control characters and repeated blanks, truncated to the maximum length. */
export function labelOf(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, MAX_LABEL)
    .trimEnd()
    .toWellFormed();
}
