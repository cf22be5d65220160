import type { Transaction } from "../../db/transaction.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { ShipmentKey } from "./find-shipment.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/**
 * Thrown by a change that first needs a query to the payment provider. Such a query must not run inside a transaction,
 * so `retryAfterProviderCheck` sends it and retries the change.
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
 * Runs a change. If it throws `ProviderCheckRequired`, queries the provider and retries the change once.
 *
 * @param change receives the error of the first attempt, `undefined` in the first attempt
 * @param poll queries the provider, outside a transaction
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

export interface PaymentsOfShipments {
  /** Schedules a poll of a shipment's payment when the transaction commits. */
  schedulePoll(tx: Transaction, key: ShipmentKey): void;
  /**
   * Expires an open checkout so that its amount can no longer be paid, and applies the resulting
   * payment to the shipment.
   *
   * @throws Refusal UNAVAILABLE, PAYMENT_PROVIDER_REFUSED, PAYMENT_PROVIDER_NOT_CONFIGURED
   */
  expireCheckout(key: ShipmentKey): Promise<unknown>;
}
