import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { QuoteZone } from "../../../gen/shipments/v1/quote_pb.js";
import type { CreateQuoteResponse } from "../../../gen/shipments/v1/quote_service_pb.js";
import type { ZoneIdentity } from "../../domain/coverage/zone-identities.ts";
import type { BreakdownLine } from "../../domain/pricing/breakdown.ts";
import { toMajor } from "../../domain/pricing/money.ts";
import { priceInMajor, type Quote } from "../../domain/pricing/pricing.ts";
import type { BookedWindow, Ends } from "../../domain/schedule/decide-windows.ts";
import { quoteMessage } from "../tariffs/versions/quote-message.ts";
import { breakdownJson, breakdownMessage } from "./breakdown-message.ts";

/** A quote that was made. Times are in milliseconds since the epoch. */
export interface MadeQuote {
  /** Undefined when not covered, as is `expiresAtMs`. */
  readonly id: string | undefined;
  readonly quote: Quote;
  readonly windows: Ends<BookedWindow>;
  readonly lines: readonly BreakdownLine[];
  readonly zones: Ends<ZoneIdentity>;
  readonly tariffVersion: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
}

export function madeQuoteMessage(made: MadeQuote): CreateQuoteResponse {
  const { quote, zones, expiresAtMs } = made;
  return {
    ...quoteMessage(quote, made.windows),
    $typeName: "shipments.v1.CreateQuoteResponse",
    id: made.id,
    breakdown: breakdownMessage(made.lines, quote.currency),
    zones: {
      $typeName: "shipments.v1.QuoteZones",
      pickup: zoneMessage(zones.pickup),
      dropoff: zoneMessage(zones.dropoff),
    },
    tariffVersion: made.tariffVersion,
    createdAt: toTimestamp(made.createdAtMs),
    expiresAt: expiresAtMs === undefined ? undefined : toTimestamp(expiresAtMs),
  };
}

/** The same as the JSON dialect of `/v1` writes it, at a quarter of the cost. */
export function madeQuoteJson(made: MadeQuote) {
  const { quote, windows, zones, expiresAtMs } = made;
  const failure = quote.covered ? undefined : quote.failures[0];
  const price = quote.covered ? priceInMajor(quote) : noPrice(quote);
  return {
    id: made.id ?? null,
    covered: quote.covered,
    message: failure?.message ?? null,
    failure_type: failure?.failure ?? null,
    distance_km: price.distanceKm,
    distance_fee: price.distanceFee,
    weight_fee: price.weightFee,
    base_fee: price.baseFee,
    subtotal: price.subtotal,
    total: price.total,
    currency: price.currency,
    breakdown: breakdownJson(made.lines, quote.currency),
    zones: { pickup: zones.pickup ?? null, dropoff: zones.dropoff ?? null },
    tariff_version: made.tariffVersion,
    created_at: creationText(made.createdAtMs),
    expires_at: expiresAtMs === undefined ? null : expiryText(expiresAtMs),
    window_fee: price.windowFee,
    pickup_window: windowJson(windows.pickup),
    dropoff_window: windowJson(windows.dropoff),
  };
}

function noPrice({ baseFeeMinor, currency }: Quote): ReturnType<typeof priceInMajor> {
  const none = { distanceKm: 0, distanceFee: 0, weightFee: 0, subtotal: 0, windowFee: 0, total: 0 };
  return { ...none, baseFee: toMajor(baseFeeMinor, currency), currency };
}

function zoneMessage(zone: ZoneIdentity | undefined): QuoteZone | undefined {
  return zone && { $typeName: "shipments.v1.QuoteZone", ...zone };
}

function windowJson(window: BookedWindow | undefined) {
  if (window === undefined) return null;
  const { startMs, endMs, timeZone } = window;
  return { start: instantText(startMs), end: instantText(endMs), time_zone: timeZone };
}

function instantText(ms: number): string {
  return new Date(ms).toISOString();
}

/** Of a crowd of quotes many are of one millisecond, and the text takes as long as the price. */
const creationText = rememberLast(instantText);
const expiryText = rememberLast(instantText);

function rememberLast(textOf: (ms: number) => string): (ms: number) => string {
  let last = { ms: 0, text: textOf(0) };
  return (ms) => {
    if (last.ms !== ms) last = { ms, text: textOf(ms) };
    return last.text;
  };
}

function toTimestamp(ms: number): Timestamp {
  const milliseconds = ms % 1_000;
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt((ms - milliseconds) / 1_000),
    nanos: milliseconds * 1_000_000,
  };
}
