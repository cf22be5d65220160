import type { Transaction } from "../../db/transaction.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { ShipmentKey } from "./find-shipment.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/**
 * Refuses a change that a payment provider has to be asked about first, which no transaction waits for:
 * `retryAfterProviderCheck` asks, and then tries the change again.
 */
export class ProviderCheckRequired extends Refusal {
  readonly version: number;

  constructor({ version }: ShipmentRow) {
    const text = "The payment is changing at the payment provider; try again in a moment.";
    super([{ reason: "UNAVAILABLE", text }], { retryAfterSeconds: 1 });
    this.version = version;
  }
}

/**
 * Makes a change; where that is refused because a provider has to be asked first, asks and makes it again.
 *
 * @param change is told why the provider was asked; of nothing the first time
 * @param ask asks, outside any transaction
 */
export async function retryAfterProviderCheck<T>(
  change: (asked?: ProviderCheckRequired) => Promise<T>,
  ask: () => Promise<unknown>,
): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof ProviderCheckRequired)) throw error;
    await ask();
    return change(error);
  }
}

/** What changes of shipments ask of payments at a provider. */
export interface PaymentsOfShipments {
  /** Has a shipment's payment looked at once the transaction is committed. */
  wake(tx: Transaction, key: ShipmentKey): void;
  /**
   * Ends a checkout that is open, so that nobody pays what it asks for, and applies what has become of it.
   *
   * @throws Refusal UNAVAILABLE, PAYMENT_PROVIDER_REFUSED, PAYMENT_PROVIDER_NOT_CONFIGURED
   */
  endCheckout(key: ShipmentKey): Promise<unknown>;
}
