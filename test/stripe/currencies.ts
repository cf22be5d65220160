import { invalidRequest } from "./errors.ts";

/** Of these the smallest unit is the whole one. */
const ZERO_DECIMAL = new Set(
  "bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf".split(" "),
);
/** Of these a thousand make one. */
const THREE_DECIMAL = new Set("bhd jod kwd omr tnd".split(" "));

/** The smallest charges, in the currency's smallest unit: docs.stripe.com/currencies. */
const SMALLEST = amounts(`
  usd 50 aed 200 aud 50 bgn 100 brl 50 cad 50 chf 50 czk 1500 dkk 250 eur 50 gbp 30 hkd 400 huf 17500
  inr 50 jpy 50 mxn 1000 myr 200 nok 300 nzd 50 pln 200 ron 200 sek 300 sgd 50 thb 1000`);
/** What is not in Stripe's list must be worth 50 US cents, which is about so much of these. */
const WORTH_50_CENTS = amounts(
  "kwd 160 bhd 190 jod 360 omr 200 tnd 1600 krw 700 clp 480 vnd 13000",
);
/** These have no smaller unit, but Stripe counts hundredths of them still. */
const WHOLE_HUNDREDS = new Set(["isk", "ugx"]);
const LARGEST = 99_999_999;

/**
 * Refuses an amount that Stripe would not charge; 0 needs no payment.
 *
 * @param amount in the currency's smallest unit
 */
export function checkAmount(amount: number, currency: string): void {
  const smallest = SMALLEST.get(currency) ?? WORTH_50_CENTS.get(currency) ?? 50;
  if (amount > 0 && amount < smallest) {
    throw invalidRequest(
      `The Checkout Session's total amount due must add up to at least ${written(smallest, currency)}`,
      { code: "amount_too_small" },
    );
  }
  if (amount > LARGEST) {
    throw invalidRequest(
      `The Checkout Session's total amount due must be no more than ${written(LARGEST, currency)}`,
      { code: "amount_too_large" },
    );
  }
  const step = THREE_DECIMAL.has(currency) ? 10 : WHOLE_HUNDREDS.has(currency) ? 100 : 1;
  if (amount % step !== 0) {
    throw invalidRequest(`Amounts in ${currency} must be multiples of ${step}, unlike ${amount}.`, {
      code: "parameter_invalid_integer",
      param: "line_items[0][price_data][unit_amount]",
    });
  }
}

/** An amount as Stripe's messages write it: `$0.50 usd`, `50 jpy`. */
export function written(amount: number, currency: string): string {
  const decimals = ZERO_DECIMAL.has(currency) ? 0 : THREE_DECIMAL.has(currency) ? 3 : 2;
  const sign = currency === "usd" ? "$" : "";
  return `${sign}${(amount / 10 ** decimals).toFixed(decimals)} ${currency}`;
}

/** Reads `usd 50 aed 200`. */
function amounts(table: string): ReadonlyMap<string, number> {
  return new Map(
    [...table.matchAll(/([a-z]{3}) (\d+)/g)].map(([, currency = "", amount]) => [
      currency,
      Number(amount),
    ]),
  );
}
