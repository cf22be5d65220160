import { minorDigitsOf, toMajor } from "../../../domain/pricing/money.ts";

/*
 * Stripe counts most currencies in hundredths, whatever ISO 4217 says of them, and has a smallest charge
 * for those that it settles in (https://docs.stripe.com/currencies). Króna and shilling are among the
 * hundredths, though they have none.
 */
const ZERO_DECIMALS = new Set(
  "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "),
);
const THREE_DECIMALS = new Set("BHD JOD KWD OMR TND".split(" "));

/** In minor units. Of other currencies it depends on what the account settles in, which Stripe then says. */
const LEAST: ReadonlyMap<string, number> = new Map(
  `AED 200, AUD 50, BGN 100, BRL 50, CAD 50, CHF 50, CZK 1500, DKK 250, EUR 50, GBP 30, HKD 400,
   HUF 17500, INR 50, JPY 50, MXN 1000, MYR 200, NOK 300, NZD 50, PLN 200, RON 200, SEK 300, SGD 50,
   THB 1000, USD 50`
    .split(",")
    .map((entry) => entry.trim().split(" "))
    .map(([code, least]) => [code!, Number(least)]),
);
/** In Stripe's units: eight digits. */
const MOST = 99_999_999;

/** How many of Stripe's units a minor unit is: 1, as of a currency that is not known here, or a power of ten up or down. */
function unitsOf(currency: string): number {
  const digits = THREE_DECIMALS.has(currency) ? 3 : ZERO_DECIMALS.has(currency) ? 0 : 2;
  return 10 ** (digits - (minorDigitsOf(currency) ?? digits));
}

/** An amount that has no fault, as Stripe counts it. */
export function toStripeAmount(amountMinor: number, currency: string): number {
  const units = unitsOf(currency);
  return units < 1 ? amountMinor / Math.round(1 / units) : amountMinor * units;
}

/** An amount of Stripe's in minor units; what is less than one is left out. */
export function fromStripeAmount(amount: number, currency: string): number {
  const units = unitsOf(currency);
  return units < 1 ? amount * Math.round(1 / units) : Math.floor(amount / units);
}

/** Why Stripe takes no payment of an amount, as in "total must be ..."; undefined when it does. */
export function stripeAmountFault(amountMinor: number, currency: string): string | undefined {
  const inWords = (minor: number) => `${toMajor(minor, currency)} ${currency}`;
  if (amountMinor === 0) {
    return "must be more than 0 to be paid at a checkout; record the payment of 0 instead.";
  }
  const least = LEAST.get(currency) ?? 1;
  if (amountMinor < least) return `must be at least ${inWords(least)} to be paid at a checkout.`;
  const step = THREE_DECIMALS.has(currency) ? 10 : Math.max(1, Math.round(1 / unitsOf(currency)));
  if (amountMinor % step !== 0) {
    return `must be a multiple of ${inWords(step)} to be paid at a checkout.`;
  }
  const most = fromStripeAmount(MOST, currency);
  return amountMinor > most
    ? `must be at most ${inWords(most)} to be paid at a checkout.`
    : undefined;
}
