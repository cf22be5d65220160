import type { PaymentProvider } from "./payment-provider.ts";

/** Payments that the workspace takes itself, in cash or by transfer; there is nothing to check. */
export const manualProvider: PaymentProvider = {
  name: "manual",
  confirmPayment: async () => undefined,
  confirmRefund: async () => undefined,
};
