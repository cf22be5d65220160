import type { Transaction } from "../../db/transaction.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { ShipmentKey } from "./find-shipment.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/**
 * Refuses a change that requires a query to the payment provider, which must not happen inside a
 * transaction: `retryAfterProviderCheck` queries it and retries the change.
 */
export class ProviderCheckRequired extends Refusal {
  readonly version: number;

  constructor({ version }: ShipmentRow) {
    const text = "The payment is changing at the payment provider. Try again in a moment.";
    super([{ reason: "UNAVAILABLE", text }], { retryAfterSeconds: 1 });
    this.version = version;
  }
}

/**
 * Makes a change. If it requires a provider query, queries the provider and retries.
 *
 * @param change receives the reason for the query, `undefined` the first time
 * @param poll queries the provider outside transactions
 */
export async function retryAfterProviderCheck<T>(
  change: (polled?: ProviderCheckRequired) => Promise<T>,
  poll: () => Promise<unknown>,
): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof ProviderCheckRequired)) throw error;
    await poll();
    return change(error);
  }
}

/** Provider operations that shipment changes need. */
export interface PaymentsOfShipments {
  /** Schedules a check of a shipment's payment after the commit. */
  schedulePoll(tx: Transaction, key: ShipmentKey): void;
  /**
   * Expires an open checkout, so that its amount cannot be paid, and applies its final state.
   *
   * @throws Refusal UNAVAILABLE, PAYMENT_PROVIDER_REFUSED, PAYMENT_PROVIDER_NOT_CONFIGURED
   */
  expireCheckout(key: ShipmentKey): Promise<unknown>;
}
