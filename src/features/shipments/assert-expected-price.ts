import { priceInMajor } from "../../domain/pricing/price-in-major.ts";
import type { CoveredQuote } from "../../domain/pricing/pricing.ts";
import { refuse } from "../../domain/refusal.ts";

/** What a caller expects a booking to cost; the total in major units. */
interface Expectation {
  readonly expectedTotal?: number | undefined;
  readonly expectedCurrency?: string | undefined;
}

/**
 * Checks the price of a booking against what its caller expects; what is absent is not checked.
 *
 * @throws Refusal PRICE_CHANGED, with the actual price among its facts
 */
export function assertExpectedPrice(priced: CoveredQuote, expectation: Expectation): void {
  const price = priceInMajor(priced);
  const { expectedTotal = price.total, expectedCurrency = price.currency } = expectation;
  if (expectedTotal === price.total && expectedCurrency === price.currency) return;
  throw refuse(
    "PRICE_CHANGED",
    `expected_total is ${expectedTotal} ${expectedCurrency}, but the booking would cost ${price.total} ${price.currency}.`,
    {
      subject: "expected_total",
      facts: {
        distance_km: String(price.distanceKm),
        distance_fee: String(price.distanceFee),
        weight_fee: String(price.weightFee),
        base_fee: String(price.baseFee),
        subtotal: String(price.subtotal),
        total: String(price.total),
        currency: price.currency,
      },
    },
  );
}
