import { Stripe } from "stripe";
import type { StripeStandIn } from "./stand-in.ts";

/** The package's client of a stand-in, which repeats nothing but what a broken connection took. */
export function clientOf(
  stripe: StripeStandIn,
  {
    key = stripe.secretKey,
    account,
  }: { readonly key?: string; readonly account?: string | undefined } = {},
): Stripe {
  const { hostname, port } = new URL(stripe.url);
  return new Stripe(key, {
    protocol: "http",
    host: hostname,
    port,
    maxNetworkRetries: 0,
    telemetry: false,
    ...(account === undefined ? {} : { stripeContext: account }),
  });
}

/** A session's parameters for one thing of this price, in the currency's smallest unit. */
export function priced(
  amount: number,
  currency = "usd",
  more: Stripe.Checkout.SessionCreateParams = {},
): Stripe.Checkout.SessionCreateParams {
  return {
    mode: "payment",
    success_url: "https://example.com/paid",
    line_items: [
      {
        quantity: 1,
        price_data: { currency, unit_amount: amount, product_data: { name: "A delivery" } },
      },
    ],
    ...more,
  };
}
