import { RATE_DECIMALS, toMajor } from "./money.ts";
import { findTier, roundKm, type CoveredQuote } from "./pricing.ts";
import type { Fees } from "./tariff.ts";

/** A part of a price; of what costs nothing there is none. */
export interface BreakdownLine {
  readonly kind: "distance" | "weight" | "minimum" | "window";
  readonly quantity: number;
  readonly unit: "km" | "kg" | "shipment" | "window";
  /** What one unit costs, in the major unit of the currency; may be finer than its minor unit. */
  readonly rate: number;
  /** quantity × rate, rounded half up; a distance counts unrounded there. */
  readonly amountMinor: number;
}

export type BrokenDown = Pick<
  CoveredQuote,
  "distanceKm" | "distanceFeeMinor" | "weightFeeMinor" | "baseFeeMinor" | "subtotalMinor"
>;

/**
 * What a price is made of: the amounts of the lines add up to its total.
 *
 * @param fees those that it was worked out by
 * @param windowFees what each of its windows costs, in minor units
 * @returns undefined when it cannot have been worked out by these fees
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

/** What is charged once, for the shipment or a window of it. */
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
