import {
  priceByFees,
  priceInMajor,
  withWindowFee,
  type CoveredQuote,
  type Route,
} from "../../domain/pricing/pricing.ts";
import { type Refusal, refuse, refuseAny, type Violation } from "../../domain/refusal.ts";
import type { CreateShipmentRequest } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { QuoteTerms } from "../../domain/pricing/sealed-quote.ts";
import type { Span } from "../../domain/schedule/calendar.ts";
import type { Ends } from "../../domain/route-ends.ts";
import type { BookedWindow } from "../../domain/schedule/decide-windows.ts";
import { windowsOf } from "../tariffs/versions/window-message.ts";
import type { NamedQuote } from "../quotes/find-quote.ts";

export interface QuoteFacts {
  /** Reference of the shipment that was booked with the quote. null if the quote is unused. */
  readonly usedBy: string | null;
  /** Highest tariff version that voids quotes of earlier versions. null if there is none. */
  readonly voidedBelow: number | null;
}

/** Request fields that must equal the quote's values, with functions that read these values. */
const FIELDS = [
  ["pickup_lat", "pickupLat", ({ pickup }) => pickup.lat],
  ["pickup_lng", "pickupLng", ({ pickup }) => pickup.lng],
  ["dropoff_lat", "dropoffLat", ({ dropoff }) => dropoff.lat],
  ["dropoff_lng", "dropoffLng", ({ dropoff }) => dropoff.lng],
  ["weight_kg", "weightKg", ({ weightKg }) => weightKg],
] as const satisfies readonly (readonly [string, keyof CreateShipmentRequest, (route: Route) => number])[];

/** Returns the route of a booking. Takes missing fields from the quote. */
export function routeWithQuote(request: CreateShipmentRequest, quote: NamedQuote | undefined): Route {
  const [pickupLat, pickupLng, dropoffLat, dropoffLng, weightKg] = FIELDS.map(([, property, valueIn]) => {
    const value = request[property] ?? (quote && valueIn(quote.terms.route));
    if (value === undefined) throw refuse("QUOTE_UNKNOWN");
    return value;
  }) as [number, number, number, number, number];
  return {
    pickup: { lat: pickupLat, lng: pickupLng },
    dropoff: { lat: dropoffLat, lng: dropoffLng },
    weightKg,
  };
}

/** Returns the windows of a booking. Takes missing windows from the quote. */
export function windowsWithQuote(request: CreateShipmentRequest, quote: NamedQuote | undefined): Ends<Span> {
  const { pickup, dropoff } = windowsOf(request);
  return {
    pickup: pickup ?? quote?.terms.pickupWindow,
    dropoff: dropoff ?? quote?.terms.dropoffWindow,
  };
}

export function withQuotedFees(
  { pickup, dropoff }: Ends<BookedWindow>,
  { pickupWindow, dropoffWindow }: QuoteTerms,
): Ends<BookedWindow> {
  return {
    pickup: pickup && { ...pickup, feeMinor: pickupWindow?.feeMinor ?? 0 },
    dropoff: dropoff && { ...dropoff, feeMinor: dropoffWindow?.feeMinor ?? 0 },
  };
}

/**
 * Computes the price of a quote with the fees of its tariff version.
 *
 * @param current price of the route with the current tariff
 * @throws Refusal the first of QUOTE_UNKNOWN, QUOTE_USED (with the shipment), QUOTE_EXPIRED and QUOTE_VOID (with the
 * current price), and QUOTE_MISMATCH (with the quote's value of each different field)
 */
export function quotedPrice(
  request: CreateShipmentRequest,
  quote: NamedQuote | undefined,
  { usedBy, voidedBelow }: QuoteFacts,
  { current, nowMs }: { readonly current: CoveredQuote; readonly nowMs: number },
): CoveredQuote {
  if (quote === undefined) throw refuse("QUOTE_UNKNOWN");
  const { terms, fees } = quote;
  if (usedBy !== null) throw usedError(usedBy);
  if (terms.expiresAtMs <= nowMs) {
    const expired_at = new Date(terms.expiresAtMs).toISOString();
    throw goneError("QUOTE_EXPIRED", `The quote expired at ${expired_at}`, current, { expired_at });
  }
  if (voidedBelow !== null && terms.tariffVersion < voidedBelow) {
    const what = "The prices have changed, and earlier quotes are no longer valid";
    throw goneError("QUOTE_VOID", what, current);
  }
  assertSame(request, terms);
  const windowFeeMinor = (terms.pickupWindow?.feeMinor ?? 0) + (terms.dropoffWindow?.feeMinor ?? 0);
  return withWindowFee(priceByFees(fees, terms.route)!, windowFeeMinor);
}

function usedError(shipment: string): Refusal {
  return refuse("QUOTE_USED", `quote_id was already booked as the shipment ${shipment}.`, {
    subject: "quote_id",
    facts: { shipment },
  });
}

function goneError(
  reason: "QUOTE_EXPIRED" | "QUOTE_VOID",
  what: string,
  current: CoveredQuote,
  facts: Readonly<Record<string, string>> = {},
): Refusal {
  const { total, currency } = priceInMajor(current);
  const text = `${what}. The shipment would now cost ${total} ${currency}. Request a new quote.`;
  return refuse(reason, text, {
    subject: "quote_id",
    facts: { ...priceFacts(current), ...facts },
  });
}

function assertSame(request: CreateShipmentRequest, terms: QuoteTerms): void {
  const { route } = terms;
  const ofRoute = FIELDS.flatMap(([subject, property, valueIn]): Mismatch[] => {
    const [requested, quoted] = [request[property], valueIn(route)];
    if (requested === undefined || requested === quoted) return [];
    const text = `${subject} is ${requested}, but ${quoted} in the quote. Omit it, or request another quote.`;
    return [{ subject, text, facts: { [subject]: String(quoted) } }];
  });
  const requested = windowsOf(request);
  const mismatches = [
    ...ofRoute,
    ...windowMismatch("pickup_window", requested.pickup, terms.pickupWindow),
    ...windowMismatch("dropoff_window", requested.dropoff, terms.dropoffWindow),
  ];
  const violations = mismatches.map(({ subject, text }): Violation => ({
    reason: "QUOTE_MISMATCH",
    subject,
    text,
  }));
  refuseAny(violations, {
    facts: Object.assign({}, ...mismatches.map(({ facts }) => facts)) as Mismatch["facts"],
  });
}

interface Mismatch {
  readonly subject: string;
  readonly text: string;
  readonly facts: Readonly<Record<string, string>>;
}

function windowMismatch(subject: string, requested: Span | undefined, quoted: Span | undefined): Mismatch[] {
  const isSame = requested?.startMs === quoted?.startMs && requested?.endMs === quoted?.endMs;
  if (requested === undefined || isSame) return [];
  const text = `${subject} differs from the quote. Omit it, or request another quote.`;
  const facts = quoted && {
    [`${subject}_start`]: new Date(quoted.startMs).toISOString(),
    [`${subject}_end`]: new Date(quoted.endMs).toISOString(),
  };
  return [{ subject, text, facts: facts ?? {} }];
}

/** Returns a price as facts of a refusal, in major units. */
export function priceFacts(priced: CoveredQuote): Readonly<Record<string, string>> {
  const price = priceInMajor(priced);
  return {
    distance_km: String(price.distanceKm),
    distance_fee: String(price.distanceFee),
    weight_fee: String(price.weightFee),
    base_fee: String(price.baseFee),
    subtotal: String(price.subtotal),
    window_fee: String(price.windowFee),
    total: String(price.total),
    currency: price.currency,
  };
}
