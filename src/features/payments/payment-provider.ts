import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";

/** A payment that a caller claims was made. */
export interface PaymentClaim {
  readonly workspaceId: number;
  /** The shipment's reference. */
  readonly shipment: string;
  /** In major units of the currency. */
  readonly amount: number;
  readonly currency: string;
}

/**
 * Confirms payments and refunds. Called outside any transaction, since it may use the network.
 */
export interface PaymentProvider {
  readonly name: PaymentProviderName;
  /**
   * Resolves when the payment was made.
   *
   * @throws Refusal PAYMENT_MISMATCH when it was not
   */
  confirmPayment(claim: PaymentClaim): Promise<void>;
  /**
   * Resolves when the shipment's payment was refunded.
   *
   * @throws Refusal PAYMENT_MISMATCH when it has not
   */
  confirmRefund(claim: Pick<PaymentClaim, "workspaceId" | "shipment">): Promise<void>;
}
