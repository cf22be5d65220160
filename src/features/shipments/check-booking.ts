import type { Outcome } from "../../db/group-transaction.ts";
import { quote, type CoveredQuote } from "../../domain/pricing/pricing.ts";
import { routeOf } from "../../domain/pricing/route-of.ts";
import { Refusal, refuse, type Violation } from "../../domain/refusal.ts";
import type { PricedTariff } from "../tariffs/versions/loaded-tariffs.ts";
import { assertExpectedPrice } from "./assert-expected-price.ts";
import type { Booking } from "./booking.ts";
import { mergeMetadata, type Metadata } from "./merge-metadata.ts";
import { coverageViolations } from "./price.ts";
import type { BookingFacts } from "./read-booking-facts.ts";

/** A booking that has passed every check, with its price. */
export interface AcceptedBooking extends Booking {
  readonly facts: BookingFacts;
  readonly tariffVersion: number;
  readonly priced: CoveredQuote;
  readonly metadata: Metadata;
}

/**
 * Prices a booking and checks it against what the database has.
 *
 * @returns the accepted booking, or a Refusal with every violation of ROUTE_NOT_COVERED,
 * WEIGHT_NOT_SERVED and PAYMENT_PROVIDER_NOT_CONNECTED, else with the first of PRICE_CHANGED,
 * EXTERNAL_REFERENCE_TAKEN and FIELD_INVALID (too much metadata)
 */
export function checkBooking(
  booking: Booking,
  facts: BookingFacts,
  tariff: PricedTariff,
): Outcome<AcceptedBooking> {
  try {
    return { result: acceptBooking(booking, facts, tariff) };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error };
    throw error;
  }
}

function acceptBooking(
  booking: Booking,
  facts: BookingFacts,
  { version, pricing }: PricedTariff,
): AcceptedBooking {
  const { request } = booking;
  const result = quote(pricing, routeOf(request));
  const violations = coverageViolations(result);
  if (!facts.providerConnected) violations.push(PROVIDER_MISSING);
  if (violations.length > 0) throw new Refusal(violations as [Violation, ...Violation[]]);
  const priced = result as CoveredQuote;
  assertExpectedPrice(priced, request);
  if (facts.takenBy !== null) throw referenceTakenError(facts.takenBy);
  const metadata = mergeMetadata({}, request.metadata);
  return { ...booking, facts, tariffVersion: version, priced, metadata };
}

const PROVIDER_MISSING: Violation = {
  reason: "PAYMENT_PROVIDER_NOT_CONNECTED",
  subject: "payment_provider",
  text: "The workspace has no payment provider connected; connect one before booking.",
};

function referenceTakenError(shipment: string): Refusal {
  return refuse(
    "EXTERNAL_REFERENCE_TAKEN",
    `external_reference belongs to the shipment ${shipment} already.`,
    { subject: "external_reference", facts: { shipment } },
  );
}
