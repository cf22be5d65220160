import { RATE_DECIMALS, toMajor } from "./money.ts";
import { findTier, roundKm, type CoveredQuote } from "./pricing.ts";
import type { Fees } from "./tariff.ts";

/** A line item of a price. Items of zero are omitted. */
export interface BreakdownLine {
  readonly kind: "distance" | "weight" | "minimum" | "window";
  readonly quantity: number;
  readonly unit: "km" | "kg" | "shipment" | "window";
  /** Price per unit, in the currency's major unit, possibly with more decimals than the minor unit. */
  readonly rate: number;
  /** Quantity × rate, rounded half up. Uses the unrounded distance. */
  readonly amountMinor: number;
}

export type BrokenDown = Pick<
  CoveredQuote,
  "distanceKm" | "distanceFeeMinor" | "weightFeeMinor" | "baseFeeMinor" | "subtotalMinor"
>;

/**
 * Returns the line items of a price. Their amounts add up to the total. Returns `undefined` if the
 * price was not computed with these fees.
 *
 * @param fees fees with which the price was computed
 * @param windowFees fee of each window, in minor units
 */
export function breakDown(
  fees: Fees,
  weightKg: number,
  price: BrokenDown,
  windowFees: readonly number[],
): BreakdownLine[] | undefined {
  const { distanceFeeMinor, weightFeeMinor, baseFeeMinor, subtotalMinor } = price;
  const tier = findTier(fees.tiers, weightKg);
  if (tier === undefined || weightFeeMinor < tier.flatFeeMinor) return undefined;
  const { flatFeeMinor, ratePerKgMillionths } = tier;
  const lines: BreakdownLine[] = [
    {
      kind: "distance",
      quantity: roundKm(price.distanceKm),
      unit: "km",
      rate: rateInMajor(fees.ratePerKmMillionths),
      amountMinor: distanceFeeMinor,
    },
    {
      kind: "weight",
      quantity: weightKg,
      unit: "kg",
      rate: rateInMajor(ratePerKgMillionths),
      amountMinor: weightFeeMinor - flatFeeMinor,
    },
  ];
  if (flatFeeMinor > 0) lines.push(once("weight", "shipment", flatFeeMinor, fees));
  if (subtotalMinor < baseFeeMinor) {
    lines.push(once("minimum", "shipment", baseFeeMinor - subtotalMinor, fees));
  }
  lines.push(...windowFees.map((feeMinor) => once("window", "window", feeMinor, fees)));
  return lines.filter(({ amountMinor }) => amountMinor > 0);
}

/** Creates a line that is charged once per shipment or window. */
function once(
  kind: BreakdownLine["kind"],
  unit: "shipment" | "window",
  amountMinor: number,
  { currency }: Fees,
): BreakdownLine {
  return { kind, quantity: 1, unit, rate: toMajor(amountMinor, currency), amountMinor };
}

function rateInMajor(millionths: number): number {
  return millionths / 10 ** RATE_DECIMALS;
}
