import { toMajor } from "./money.ts";
import { roundKm, type CoveredQuote } from "./pricing.ts";

/** A price as callers see it, in major units. */
export function priceInMajor(priced: CoveredQuote) {
  const { currency } = priced;
  return {
    distanceKm: roundKm(priced.distanceKm),
    distanceFee: toMajor(priced.distanceFeeMinor, currency),
    weightFee: toMajor(priced.weightFeeMinor, currency),
    baseFee: toMajor(priced.baseFeeMinor, currency),
    subtotal: toMajor(priced.subtotalMinor, currency),
    total: toMajor(priced.totalMinor, currency),
    currency,
  };
}
