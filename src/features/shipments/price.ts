import { roundKm, type CoveredQuote, type Quote } from "../../domain/pricing/pricing.ts";
import type { Violation } from "../../domain/refusal.ts";

/** The columns of a shipment that hold its price, in minor units. */
export function priceColumns(priced: CoveredQuote) {
  return {
    distanceKm: roundKm(priced.distanceKm),
    distanceFeeMinor: priced.distanceFeeMinor,
    weightFeeMinor: priced.weightFeeMinor,
    baseFeeMinor: priced.baseFeeMinor,
    subtotalMinor: priced.subtotalMinor,
    totalMinor: priced.totalMinor,
    currency: priced.currency,
  };
}

/** Why a route cannot be booked: ROUTE_NOT_COVERED, WEIGHT_NOT_SERVED; empty when it is covered. */
export function coverageViolations(result: Quote): Violation[] {
  if (result.covered) return [];
  return result.failures.map(({ failure, message }) =>
    failure === "coverage"
      ? { reason: "ROUTE_NOT_COVERED", subject: "coverage", text: message }
      : { reason: "WEIGHT_NOT_SERVED", subject: "weight_kg", text: message },
  );
}
