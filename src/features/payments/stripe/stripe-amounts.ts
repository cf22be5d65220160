import { minorDigitsOf, toMajor } from "../../../domain/pricing/money.ts";

/*
 * Units of Stripe amounts. Stripe uses hundredths for most currencies, regardless of the minor units in ISO 4217
 * (https://docs.stripe.com/currencies). This includes ISK and UGX, although they have no minor unit.
 */
const ZERO_DECIMALS = new Set("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "));
const THREE_DECIMALS = new Set("BHD JOD KWD OMR TND".split(" "));

/**
 * Minimum charge of settlement currencies, in minor units. For other currencies the minimum depends
 * on the account's settlement currency, and Stripe reports it.
 */
const MIN_CHARGES: ReadonlyMap<string, number> = new Map(
  `AED 200, AUD 50, BGN 100, BRL 50, CAD 50, CHF 50, CZK 1500, DKK 250, EUR 50, GBP 30, HKD 400,
   HUF 17500, INR 50, JPY 50, MXN 1000, MYR 200, NOK 300, NZD 50, PLN 200, RON 200, SEK 300, SGD 50,
   THB 1000, USD 50`
    .split(",")
    .map((entry) => entry.trim().split(" "))
    .map(([code, least]) => [code!, Number(least)]),
);
/** Maximum charge in Stripe's units. Stripe accepts at most eight digits. */
const MAX_CHARGE = 99_999_999;

/**
 * Returns the number of Stripe's units per minor unit, a power of ten such as 100, 1 or 0.01. 1 for unknown currencies.
 */
function unitsOf(currency: string): number {
  const digits = THREE_DECIMALS.has(currency) ? 3 : ZERO_DECIMALS.has(currency) ? 0 : 2;
  return 10 ** (digits - (minorDigitsOf(currency) ?? digits));
}

export function toStripeAmount(amountMinor: number, currency: string): number {
  const units = unitsOf(currency);
  return units < 1 ? amountMinor / Math.round(1 / units) : amountMinor * units;
}

/** Converts an amount from Stripe's units to minor units, rounded down. */
export function fromStripeAmount(amount: number, currency: string): number {
  const units = unitsOf(currency);
  return units < 1 ? amount * Math.round(1 / units) : Math.floor(amount / units);
}

/** Returns why Stripe cannot take an amount, or `undefined` if it can. The text follows "total". */
export function stripeAmountFault(amountMinor: number, currency: string): string | undefined {
  const amountText = (minor: number) => `${toMajor(minor, currency)} ${currency}`;
  if (amountMinor === 0) {
    return "must be above 0 to be paid at a checkout. Record a payment of 0 instead.";
  }
  const least = MIN_CHARGES.get(currency) ?? 1;
  if (amountMinor < least) return `must be at least ${amountText(least)} to be paid at a checkout.`;
  const step = THREE_DECIMALS.has(currency) ? 10 : Math.max(1, Math.round(1 / unitsOf(currency)));
  if (amountMinor % step !== 0) {
    return `must be a multiple of ${amountText(step)} to be paid at a checkout.`;
  }
  const most = fromStripeAmount(MAX_CHARGE, currency);
  return amountMinor > most ? `must be at most ${amountText(most)} to be paid at a checkout.` : undefined;
}
