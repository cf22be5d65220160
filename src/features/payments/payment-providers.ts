import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import type { OnlinePayments, PaymentProvider } from "./payment-provider.ts";
import { createStripe } from "./stripe/stripe.ts";
import type { StripeCallOptions } from "./stripe/stripe-calls.ts";

/** Provider of a workspace that collects payments in cash or by transfer and records them manually. */
export const MANUAL: PaymentProvider = { name: "manual", online: undefined };

/** Default provider of a test twin. Accepts every recorded payment without moving money. */
export const TEST: PaymentProvider = { name: "test", online: undefined };

export type PaymentProviders = Readonly<Record<PaymentProviderName, PaymentProvider>>;

export function createPaymentProviders(options: StripeCallOptions): PaymentProviders {
  return { manual: MANUAL, test: TEST, stripe: createStripe(options) };
}

/** Returns an online provider by name. Request validation accepts only names of online providers. */
export function onlineProvider(providers: PaymentProviders, name: string): OnlinePayments {
  const { online } = providers[name as PaymentProviderName];
  if (online === undefined) throw new Error(`${name} takes no money online`);
  return online;
}
