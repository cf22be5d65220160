/** How a dispute of a payment stands: somebody asked their bank for the money back. */
export type DisputeStatus = "open" | "won" | "lost";

/** What a payment provider says of a shipment's payment, as it was last read there. */
export interface PaymentDetails {
  /** The page at which it can be paid; null while there is none. */
  readonly checkout: { readonly url: string; readonly expiresAtMs: number } | null;
  /** Whether the customer has paid, and the money is on its way. */
  readonly processing: boolean;
  /** The version of the checkout that took money which does not count and has not gone back; absent while none has. */
  readonly uncounted?: number;
  /**
   * The version of the checkout that may have been paid unseen, since its account was closed to us before its
   * end; absent while none may.
   */
  readonly unseen?: number;
  /** The version of the checkout whose money, as of these two, somebody has accepted; absent while nobody has. */
  readonly accepted?: number;
  /** Why it was not paid, in the provider's words; null when nothing went wrong. */
  readonly error: string | null;
  /** Why the refund that is due was not made; null when nothing went wrong. */
  readonly refundError: string | null;
  /** How much went back, in minor units. */
  readonly refundedMinor: number;
  /** How much else went back by disputes that were lost, in minor units; absent while none was. */
  readonly disputedMinor?: number;
  /** `null` if the payment was never disputed. */
  readonly dispute: DisputeStatus | null;
  /** Whether the provider takes refunds while the dispute is open; absent when false. */
  readonly disputeRefundable?: true;
}

/** What a provider says of a payment that nothing has become of yet. */
export const NO_PAYMENT_DETAILS: PaymentDetails = {
  checkout: null,
  processing: false,
  error: null,
  refundError: null,
  refundedMinor: 0,
  dispute: null,
};
