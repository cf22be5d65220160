import type { PaymentProvider } from "./payment-provider.ts";

/** The workspace takes the money itself, in cash or by transfer, and its word is taken for it. */
export const MANUAL: PaymentProvider = { name: "manual", online: undefined };

/** That of a test twin that has connected no other: no money moves, and every payment is believed. */
export const TEST: PaymentProvider = { name: "test", online: undefined };
