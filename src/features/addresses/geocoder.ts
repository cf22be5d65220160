import type { Point } from "../../domain/coverage/geo.ts";
import type { CallSpan } from "../../pipeline/call.ts";

export interface AddressQuery {
  readonly text: string;
  /** Point near which matches rank higher, if any. */
  readonly near: Point | undefined;
  /** Maximum number of addresses, 1 to 10. */
  readonly limit: number;
}

/** Precision of an address's coordinates: the building, a point on the street, or the middle of a larger area. */
export type AddressPrecision = "building" | "street" | "area";

export interface AddressMatch extends Point {
  /** Address on one line, 1 to 300 characters. */
  readonly label: string;
  readonly precision: AddressPrecision;
  /** Confidence of the geocoder in the match, 0 to 1. `undefined` if unknown. */
  readonly confidence: number | undefined;
}

/** Client of a geocoder. Calls reject only with `GeocoderUnavailable`. */
export interface Geocoder {
  /** Attribution of the data, which must be displayed with it. */
  readonly attribution: string;
  /** Returns the addresses that match a text, best match first. */
  search(query: AddressQuery, span?: CallSpan): Promise<readonly AddressMatch[]>;
  /** Returns at most one address at or near a point. Empty if none is known. */
  reverse(point: Point, span?: CallSpan): Promise<readonly AddressMatch[]>;
  close(): Promise<void>;
}

/**
 * Outcomes of a request. `limited`: the geocoder requests a pause. `failed`: its response is unusable. `unanswered`:
 * there was no response.
 */
export const GEOCODER_OUTCOMES = ["ok", "limited", "failed", "unanswered"] as const;

export type GeocoderOutcome = (typeof GEOCODER_OUTCOMES)[number];

/** Thrown if the geocoder returned no usable response. */
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

export interface GeocoderRequest {
  /** Path below the base URL, such as `/search`. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string | number>>;
}

/**
 * Builds requests to one kind of geocoder and parses the responses. The `read` functions throw if a
 * response is malformed.
 */
export interface GeocoderAdapter {
  /** Default attribution. */
  readonly attribution: string;
  searchRequest(query: AddressQuery): GeocoderRequest;
  readSearch(answer: unknown): readonly AddressMatch[];
  reverseRequest(point: Point): GeocoderRequest;
  /** Returns the addresses at a point, nearest first. */
  readReverse(answer: unknown): readonly AddressMatch[];
}

const MAX_LABEL = 300;

/**
 * Returns a label with runs of white space and control characters replaced by one space, truncated to the maximum
 * length.
 */
export function labelOf(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, MAX_LABEL)
    .trimEnd()
    .toWellFormed();
}
