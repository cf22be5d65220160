import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";

/** A payment that somebody says was made. */
export interface PaymentClaim {
  readonly workspaceId: number;
  /** The shipment's reference. */
  readonly shipment: string;
  /** In major units of the currency. */
  readonly amount: number;
  readonly currency: string;
}

/**
 * Through whom workspaces are paid. Asked outside of any transaction, since the answer may come
 * over a network.
 */
export interface PaymentProvider {
  readonly name: PaymentProviderName;
  /**
   * Resolves when the payment was really made.
   *
   * @throws Refusal PAYMENT_MISMATCH when it was not
   */
  confirmPayment(claim: PaymentClaim): Promise<void>;
  /**
   * Resolves when the shipment's payment has really gone back.
   *
   * @throws Refusal PAYMENT_MISMATCH when it has not
   */
  confirmRefund(claim: Pick<PaymentClaim, "workspaceId" | "shipment">): Promise<void>;
}
