import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import type { OnlinePayments, PaymentProvider } from "./payment-provider.ts";
import { createStripe } from "./stripe/stripe.ts";
import type { StripeCallOptions } from "./stripe/stripe-calls.ts";

/** The workspace takes the money itself, in cash or by transfer, and its word is taken for it. */
export const MANUAL: PaymentProvider = { name: "manual", online: undefined };

/** That of a test twin that has connected no other: no money moves, and every payment is believed. */
export const TEST: PaymentProvider = { name: "test", online: undefined };

/** Every payment provider, by its name. */
export type PaymentProviders = Readonly<Record<PaymentProviderName, PaymentProvider>>;

export function createPaymentProviders(options: StripeCallOptions): PaymentProviders {
  return { manual: MANUAL, test: TEST, stripe: createStripe(options) };
}

/** A provider that takes money online, by a name that a request's rule lists. */
export function onlineProvider(providers: PaymentProviders, name: string): OnlinePayments {
  const { online } = providers[name as PaymentProviderName];
  if (online === undefined) throw new Error(`${name} takes no money online`);
  return online;
}
