/** Status of a payment dispute, in which the payer asked their bank to return the money. */
export type DisputeStatus = "open" | "won" | "lost";

/** Payment details of a shipment, as last read from the provider. */
export interface PaymentDetails {
  /** Open payment page. null if there is none. */
  readonly checkout: { readonly url: string; readonly expiresAtMs: number } | null;
  /** Whether the customer has paid but the money has not arrived yet. */
  readonly processing: boolean;
  /**
   * Version of the checkout that received a payment that is neither assigned to the shipment nor refunded. Absent if
   * there is none.
   */
  readonly uncounted?: number;
  /**
   * Version of the checkout that may have been paid unnoticed, because access to the provider's account was lost before
   * the checkout expired. Absent if there is none.
   */
  readonly unseen?: number;
  /** Version of the checkout whose unassigned payment was accepted. Absent if there is none. */
  readonly accepted?: number;
  /** Provider's message if the payment failed, otherwise null. */
  readonly error: string | null;
  /** Reason why the pending refund failed. null if it did not fail. */
  readonly refundError: string | null;
  readonly refundedMinor: number;
  /** Amount lost in disputes, in minor units. Absent if zero. */
  readonly disputedMinor?: number;
  /** null if the payment was never disputed. */
  readonly dispute: DisputeStatus | null;
  /** Whether the provider accepts refunds while the dispute is open. Absent if false. */
  readonly disputeRefundable?: true;
}

/** Payment details before the first report from the provider. */
export const NO_PAYMENT_DETAILS: PaymentDetails = {
  checkout: null,
  processing: false,
  error: null,
  refundError: null,
  refundedMinor: 0,
  dispute: null,
};
