/** Status of a payment dispute: the payer asked their bank to return the money. */
export type DisputeStatus = "open" | "won" | "lost";

/** Payment details of a shipment, as last read from the provider. */
export interface PaymentDetails {
  /** Payment page. null if absent. */
  readonly checkout: { readonly url: string; readonly expiresAtMs: number } | null;
  /** Whether the customer has paid but the money has not arrived. */
  readonly processing: boolean;
  /** Version of the checkout that received an unassigned payment which is not refunded. Absent if there is none. */
  readonly uncounted?: number;
  /**
   * Version of the checkout that may have been paid unnoticed, because access to its account ended
   * before its expiry. Absent if absent.
   */
  readonly unseen?: number;
  /** Version of the checkout whose unassigned payment was accepted. Absent if absent. */
  readonly accepted?: number;
  /** Provider's message for the failed payment. null if it did not fail. */
  readonly error: string | null;
  /** Reason why the due refund failed. null if it did not fail. */
  readonly refundError: string | null;
  /** Refunded amount in minor units. */
  readonly refundedMinor: number;
  /** Amount lost in disputes, in minor units. Absent if zero. */
  readonly disputedMinor?: number;
  /** `null` if the payment was never disputed. */
  readonly dispute: DisputeStatus | null;
  /** Whether the provider takes refunds while the dispute is open; absent when false. */
  readonly disputeRefundable?: true;
}

/** Payment details before any report of the provider. */
export const NO_PAYMENT_DETAILS: PaymentDetails = {
  checkout: null,
  processing: false,
  error: null,
  refundError: null,
  refundedMinor: 0,
  dispute: null,
};
