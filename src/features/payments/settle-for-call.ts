import { unavailable } from "../../domain/refusal.ts";
import type { ShipmentKey } from "../shipments/find-shipment.ts";
import { askProvider } from "./payment-connections.ts";
import type { SettleOptions, SettlePayment } from "./settle-payments.ts";

/** How long a call waits while another worker looks at its payment, in milliseconds. */
const WAIT_MS = 5_000;

/**
 * Settles a payment for a call that waits for it.
 *
 * @throws Refusal UNAVAILABLE while the provider does not answer, or another worker looks for too long;
 * PAYMENT_PROVIDER_REFUSED; PAYMENT_PROVIDER_NOT_CONFIGURED
 */
export async function settleForCall(
  settle: SettlePayment,
  key: ShipmentKey,
  options: Omit<SettleOptions, "waitMs"> = {},
): Promise<void> {
  const outcome = await askProvider(() => settle(key, { ...options, waitMs: WAIT_MS }));
  if (outcome === "busy") {
    const text = "The payment is being looked at; try again in a moment.";
    throw unavailable(text, undefined, { facts: { waits_for: "payment_provider" } });
  }
}
