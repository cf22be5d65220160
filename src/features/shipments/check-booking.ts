import type {
  CreateShipmentRequest,
  CreateShipmentRequestValid,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Outcome } from "../../db/group-commit.ts";
import { MAX_METADATA_KEYS } from "../../domain/limits.ts";
import {
  priceInMajor,
  quote as quoteRoute,
  roundKm,
  routeOf,
  withWindowFee,
  zoneOf,
  type CoveredQuote,
  type Pricing,
  type Quote,
  type Route,
} from "../../domain/pricing/pricing.ts";
import type { Fees } from "../../domain/pricing/tariff.ts";
import { decideRoute } from "../../domain/pricing/windows.ts";
import type { Span } from "../../domain/schedule/calendar.ts";
import type { Ends } from "../../domain/route-ends.ts";
import { NO_WINDOWS, type WindowsDecision } from "../../domain/schedule/decide-windows.ts";
import { fixedViolation, invalidField, Refusal, refuse, refuseAny, type Violation } from "../../domain/refusal.ts";
import type { PricedTariff } from "../tariffs/versions/loaded-tariffs.ts";
import { windowsOf } from "../tariffs/versions/window-message.ts";
import type { Booking, BookingFacts, PriceFacts } from "./booking-facts.ts";
import { quotedPrice, priceFacts, routeWithQuote, windowsWithQuote, withQuotedFees } from "./quoted-price.ts";

export interface AcceptedBooking extends Booking {
  readonly facts: BookingFacts;
  readonly route: Route;
  readonly dropoffZone: string;
  /** Tariff version that determines the price: the version of the quote, if there is one. */
  readonly tariffVersion: number;
  readonly fees: Fees;
  readonly priced: CoveredQuote;
  readonly windows: WindowsDecision["windows"];
  readonly metadata: Metadata;
}

/**
 * Checks and prices a booking.
 *
 * @param facts data from the database that the booking depends on
 * @returns the accepted booking, or a Refusal. The Refusal has all violations of ROUTE_NOT_COVERED, WEIGHT_NOT_SERVED,
 * the windows, and PAYMENT_PROVIDER_NOT_CONNECTED or PAYMENT_PROVIDER_NOT_READY. If there are none, it has the error of
 * `heldPrice`, or else the first of PRICE_CHANGED, EXTERNAL_REFERENCE_TAKEN and FIELD_INVALID (too much metadata).
 */
export function checkBooking(
  booking: Booking,
  facts: BookingFacts,
  tariff: PricedTariff,
  now: Date,
): Outcome<AcceptedBooking> {
  try {
    return { result: acceptBooking(booking, facts, tariff, now) };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error };
    throw error;
  }
}

function acceptBooking(booking: Booking, facts: BookingFacts, tariff: PricedTariff, now: Date): AcceptedBooking {
  const { request, quote } = booking;
  const { route, windows, priced } = priceBooking(booking, facts, tariff, now);
  assertExpectedPrice(priced, request);
  if (facts.takenBy !== null) throw referenceTakenError(facts.takenBy);
  const metadata = mergeMetadata({}, request.metadata);
  const by =
    quote === undefined
      ? { tariffVersion: tariff.version, fees: tariff.pricing.fees, windows }
      : { tariffVersion: quote.terms.tariffVersion, fees: quote.fees, windows: withQuotedFees(windows, quote.terms) };
  const dropoffZone = zoneOf(tariff.pricing, route.dropoff)!.name;
  return { ...booking, ...by, facts, route, dropoffZone, priced, metadata };
}

/**
 * Prices a booking with its quote, or else with the tariff in force.
 *
 * @throws Refusal all violations of the route, the windows and the payment provider, or else the error of `quotedPrice`
 */
export function priceBooking(
  booking: Pick<Booking, "request" | "quote">,
  facts: PriceFacts,
  { pricing }: PricedTariff,
  now: Date,
): Pick<AcceptedBooking, "route" | "windows" | "priced"> {
  const { request, quote } = booking;
  const requested = requestedRoute(booking);
  const result = quoteRoute(pricing, requested.route);
  const decision = decideBooking(pricing, requested, result, now.getTime());
  const violations = [...coverageViolations(result), ...decision.violations];
  if (facts.providerState === null) {
    violations.push(fixedViolation("PAYMENT_PROVIDER_NOT_CONNECTED"));
  } else if (facts.providerState !== "ready") {
    violations.push(fixedViolation("PAYMENT_PROVIDER_NOT_READY"));
  }
  refuseAny(violations, { facts: decision.facts });
  const current = withWindowFee(result as CoveredQuote, decision.feeMinor);
  const priced =
    request.quoteId === undefined ? current : quotedPrice(request, quote, facts, { current, nowMs: now.getTime() });
  return { route: requested.route, windows: decision.windows, priced };
}

function requestedRoute({ request, quote }: Pick<Booking, "request" | "quote">): RequestedRoute {
  return request.quoteId === undefined
    ? { route: routeOf(request as CreateShipmentRequestValid), windows: windowsOf(request) }
    : { route: routeWithQuote(request, quote), windows: windowsWithQuote(request, quote) };
}

interface RequestedRoute {
  readonly route: Route;
  readonly windows: Ends<Span>;
}

/** Validates the windows of a booking. Skips a route outside all zones, which has no schedule. */
function decideBooking(
  pricing: Pricing,
  { route, windows }: RequestedRoute,
  result: Quote,
  nowMs: number,
): WindowsDecision {
  const isOutside = !result.covered && result.failures[0].failure === "coverage";
  return isOutside ? NO_WINDOWS : decideRoute(pricing, route, { windows }, nowMs);
}

function referenceTakenError(shipment: string): Refusal {
  return refuse("EXTERNAL_REFERENCE_TAKEN", `external_reference already belongs to the shipment ${shipment}.`, {
    subject: "external_reference",
    facts: { shipment },
  });
}

/**
 * Checks the price against the expected values, if any.
 *
 * @throws Refusal PRICE_CHANGED with the actual price as facts
 */
function assertExpectedPrice(priced: CoveredQuote, request: CreateShipmentRequest): void {
  const price = priceInMajor(priced);
  const { expectedTotal, expectedCurrency = price.currency } = request;
  const isTotal = expectedTotal === undefined || expectedTotal === price.total;
  if (isTotal && expectedCurrency === price.currency) return;
  const [subject, expected] =
    expectedTotal === undefined
      ? ["expected_currency", expectedCurrency]
      : ["expected_total", `${expectedTotal} ${expectedCurrency}`];
  throw refuse(
    "PRICE_CHANGED",
    `${subject} is ${expected}, but the booking would cost ${price.total} ${price.currency}.`,
    { subject, facts: priceFacts(priced) },
  );
}

export function priceColumns(priced: CoveredQuote) {
  return {
    distanceKm: roundKm(priced.distanceKm),
    distanceFeeMinor: priced.distanceFeeMinor,
    weightFeeMinor: priced.weightFeeMinor,
    baseFeeMinor: priced.baseFeeMinor,
    subtotalMinor: priced.subtotalMinor,
    windowFeeMinor: priced.windowFeeMinor,
    totalMinor: priced.totalMinor,
    currency: priced.currency,
  };
}

/** Returns why a route cannot be booked: ROUTE_NOT_COVERED or WEIGHT_NOT_SERVED. Empty if the route is covered. */
export function coverageViolations(result: Quote): Violation[] {
  if (result.covered) return [];
  return result.failures.map(({ failure, message }) =>
    failure === "coverage"
      ? { reason: "ROUTE_NOT_COVERED", subject: "coverage", text: message }
      : { reason: "WEIGHT_NOT_SERVED", subject: "weight_kg", text: message },
  );
}

type Metadata = Readonly<Record<string, string>>;

/**
 * Merges metadata. A given value replaces the current value. An empty value removes the key.
 *
 * @throws Refusal FIELD_INVALID if the result has more than `MAX_METADATA_KEYS` keys
 */
export function mergeMetadata(current: Metadata, changes: Metadata): Metadata {
  const merged = new Map(Object.entries(current));
  for (const [key, value] of Object.entries(changes)) {
    if (value === "") merged.delete(key);
    else merged.set(key, value);
  }
  if (merged.size > MAX_METADATA_KEYS) {
    throw invalidField("metadata", `must have at most ${MAX_METADATA_KEYS} keys.`);
  }
  return Object.fromEntries(merged);
}
