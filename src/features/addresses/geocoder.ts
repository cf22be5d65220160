import type { Point } from "../../domain/coverage/geo.ts";
import type { CallSpan } from "../../pipeline/call.ts";

/** What is asked for by text. */
export interface AddressQuery {
  readonly text: string;
  /** Where matches are preferred; undefined for anywhere. */
  readonly near: Point | undefined;
  /** How many at most, 1 to 10. */
  readonly limit: number;
}

/** How exact the point of an address is: of the building itself, along its street, or of a quarter and more. */
export type AddressPrecision = "building" | "street" | "area";

/** An address as a geocoder knows it. */
export interface FoundAddress extends Point {
  /** In one line; 1 to 300 characters. */
  readonly label: string;
  readonly precision: AddressPrecision;
  /** How sure the geocoder is of the match, 0 to 1; undefined where it does not say. */
  readonly confidence: number | undefined;
}

/** Tells where addresses are. What it rejects with is `GeocoderUnavailable` alone. */
export interface Geocoder {
  /** Whose data it is, to be shown beside it. */
  readonly attribution: string;
  /** The addresses that match a text, the best first. */
  search(query: AddressQuery, span?: CallSpan): Promise<readonly FoundAddress[]>;
  /** The address at a point, or near it, one at most; none where none is known. */
  reverse(point: Point, span?: CallSpan): Promise<readonly FoundAddress[]>;
  close(): Promise<void>;
}

/** The geocoder gave no answer that can be used. */
export class GeocoderUnavailable extends Error {
  /** When to ask again, in whole seconds from now, at least 1. */
  readonly retryAfterSeconds: number;

  /** @param message why, without what was asked */
  constructor(message: string, retryAfterSeconds = 1) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A request below the address of the geocoder. */
export interface GeocoderRequest {
  /** Such as `/search`. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string | number>>;
}

/** How one kind of geocoder is asked, and what its answers mean. The readers throw at what it never answers. */
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
