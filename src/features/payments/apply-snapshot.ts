import { isDeepStrictEqual } from "node:util";
import { minorDigitsOf, toMajor } from "../../domain/pricing/money.ts";
import { NO_PAYMENT_DETAILS, type PaymentDetails } from "../../domain/shipment/payment-details.ts";
import { transition } from "../../domain/shipment/shipment-state.ts";
import { applyTrigger } from "../shipments/change-shipment.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import type { PaymentSnapshot } from "./payment-provider.ts";

export interface StoredCheckout {
  readonly workspace: number;
  readonly version: number;
  /** Amount in minor units. */
  readonly amountMinor: number;
  readonly currency: string;
  readonly refundAttempt: number;
  /** Error with which the provider refused the current refund attempt, or null. */
  readonly refundRefusal: string | null;
}

/**
 * Applies a snapshot of the payment to a shipment. Returns the same row if nothing changed. Depends
 * only on the row and the snapshot, so snapshots can be applied in any order and repeatedly.
 */
export function applySnapshot(
  row: ShipmentRow,
  snapshot: PaymentSnapshot,
  known: StoredCheckout,
  at: Date,
): ShipmentRow {
  const disagreement = disagreementOf(row, snapshot, known);
  let next = row;
  if (snapshot.status === "paid") {
    const mayPay = disagreement === null && transition("pay", next).next !== undefined;
    if (mayPay) next = applyTrigger(next, "pay", at);
    if (isFullyRefunded(snapshot)) {
      if (next.paymentStatus === "refund_pending") next = applyTrigger(next, "refund", at);
    } else if (next.paymentStatus === "refunded" && wasFullyRefunded(row)) {
      next = applyTrigger(next, "reverse_refund", at);
    }
  }
  const details = {
    ...detailsOf(next, snapshot, known),
    ...uncountedOf(row, snapshot, known, disagreement),
  };
  return withDetails(row, next, details, at);
}

/**
 * Records on a shipment that its payment account is inaccessible. Returns the same row if nothing changed. Keeps
 * `processing`: a payment in progress may still succeed, so no other checkout can be opened and the price cannot
 * change.
 *
 * @param closed the checkout's version, whether it may still be paid, and why the account is inaccessible
 */
export function applyLostAccess(
  row: ShipmentRow,
  closed: Pick<StoredCheckout, "version"> & { readonly isOpen: boolean; readonly reason: string },
  at: Date,
): ShipmentRow {
  const { version, isOpen, reason } = closed;
  const details = row.paymentDetails ?? NO_PAYMENT_DETAILS;
  const isWatched = isUnpaid(row) && details.accepted !== version;
  const changed = {
    ...details,
    checkout: null,
    error: isWatched && details.uncounted === undefined ? reason : details.error,
    ...(isWatched && (isOpen || details.processing) && { unseen: version }),
    refundError: row.paymentStatus === "refund_pending" ? reason : null,
  };
  return withDetails(row, row, changed, at);
}

function withDetails(before: ShipmentRow, after: ShipmentRow, details: PaymentDetails, at: Date): ShipmentRow {
  const isSame = isDeepStrictEqual(details, before.paymentDetails ?? NO_PAYMENT_DETAILS);
  if (after === before && isSame) return before;
  return { ...after, paymentDetails: details, updatedAt: at };
}

/**
 * Whether the amount and currency equal the shipment's current total. Compares the currency too, because a new tariff
 * can change it while the amount stays the same.
 */
export function matchesTotal(
  { amountMinor, currency }: Pick<StoredCheckout, "amountMinor" | "currency">,
  row: ShipmentRow,
): boolean {
  return amountMinor === row.totalMinor && currency === row.currency;
}

export function isUnpaid({ paymentStatus }: ShipmentRow): boolean {
  return paymentStatus === "awaiting_payment" || paymentStatus === "voided";
}

function isFullyRefunded(snapshot: PaymentSnapshot): boolean {
  return remainingAmount(snapshot) === 0;
}

/** Whether the shipment was fully refunded according to the previous snapshot. Ignores manually recorded refunds. */
function wasFullyRefunded({ paymentDetails, totalMinor }: ShipmentRow): boolean {
  const { refundedMinor, disputedMinor, dispute } = paymentDetails ?? NO_PAYMENT_DETAILS;
  // Versions before 0.2.0 stored a partial dispute like a full one.
  if (dispute === "lost" && disputedMinor === undefined) return true;
  return refundedMinor + (disputedMinor ?? 0) >= totalMinor;
}

export function remainingAmount(snapshot: PaymentSnapshot): number {
  return snapshot.amountMinor - refundedAmount(snapshot) - disputedAmount(snapshot);
}

/**
 * Returns the amount lost in disputes, in minor units. A dispute after a partial refund can cover
 * the full charge, but the bank takes only the amount that is left
 * (https://support.stripe.com/questions/dispute-for-full-charge-amount-after-a-partial-refund-was-issued).
 */
function disputedAmount(snapshot: PaymentSnapshot): number {
  return Math.min(snapshot.lostMinor, snapshot.amountMinor - refundedAmount(snapshot));
}

function refundedAmount({ refunds }: PaymentSnapshot): number {
  return sum(refunds.filter(({ status }) => status === "succeeded"));
}

export function pendingRefundAmount({ refunds }: PaymentSnapshot): number {
  return sum(refunds.filter(({ status }) => status === "pending"));
}

function sum(refunds: PaymentSnapshot["refunds"]): number {
  return refunds.reduce((total, { amountMinor }) => total + amountMinor, 0);
}

/** Returns why the payment cannot be assigned to the shipment, or null if it can. */
function disagreementOf(
  row: ShipmentRow,
  { status, amountMinor, currency, reference }: PaymentSnapshot,
  { workspace }: StoredCheckout,
): string | null {
  if (status !== "paid" || !isUnpaid(row)) return null;
  if (reference !== `${workspace} ${row.reference}`) {
    return "The payment at the checkout belongs to another shipment.";
  }
  if (matchesTotal({ amountMinor, currency }, row)) return null;
  if (minorDigitsOf(currency) === undefined) {
    return `The payment is in ${currency}, which is not a supported currency.`;
  }
  const paid = `${toMajor(amountMinor, currency)} ${currency}`;
  return `The payment of ${paid} differs from the shipment's total.`;
}

/**
 * Returns the payments that need attention. An unassigned payment is reported until it is refunded
 * or accepted. An unverified payment is reported until the account can be read again.
 */
function uncountedOf(
  { paymentDetails }: ShipmentRow,
  snapshot: PaymentSnapshot,
  { version }: StoredCheckout,
  disagreement: string | null,
): Partial<PaymentDetails> {
  const { unseen, accepted } = paymentDetails ?? NO_PAYMENT_DETAILS;
  const earlier = unseen !== undefined && unseen !== version ? { unseen } : {};
  if (disagreement === null) return earlier;
  if (accepted === version) return { ...earlier, accepted };
  return {
    ...earlier,
    error: disagreement,
    ...(!isFullyRefunded(snapshot) && { uncounted: version }),
  };
}

function detailsOf(row: ShipmentRow, snapshot: PaymentSnapshot, known: StoredCheckout): PaymentDetails {
  const isAwaited = row.paymentStatus === "awaiting_payment";
  const { checkout } = snapshot;
  // The amounts are in the shipment's currency, so amounts in other currencies are omitted.
  const isComparable = snapshot.currency === row.currency;
  return {
    checkout:
      isAwaited && checkout !== null && matchesTotal(known, row)
        ? { url: checkout.url, expiresAtMs: checkout.expiresAt.getTime() }
        : null,
    processing: snapshot.status === "processing",
    error: isAwaited ? snapshot.error : null,
    refundError: row.paymentStatus === "refund_pending" ? refundErrorOf(snapshot, known) : null,
    refundedMinor: isComparable ? refundedAmount(snapshot) : 0,
    ...(isComparable && snapshot.lostMinor > 0 && { disputedMinor: disputedAmount(snapshot) }),
    dispute: snapshot.dispute,
    ...(snapshot.dispute === "open" && !snapshot.isRefundBlocked && { disputeRefundable: true }),
  };
}

/**
 * Returns why part of the payment was not refunded. Null if no refund failed, or if a refund is pending.
 *
 * After the current attempt succeeded, a manual refund can still be reversed or a dispute won. The amount that this
 * leaves is not refunded automatically, so it is reported.
 */
function refundErrorOf(snapshot: PaymentSnapshot, { refundAttempt, refundRefusal }: StoredCheckout): string | null {
  if (pendingRefundAmount(snapshot) > 0) return null;
  const { refunds } = snapshot;
  const failed = refunds.filter(({ status }) => status === "failed");
  const last = failed.find(({ attempt }) => attempt === refundAttempt);
  const isMade = refunds.some(({ status, attempt }) => status === "succeeded" && (attempt ?? 0) >= refundAttempt);
  return refundRefusal ?? (isMade ? failed[0] : last)?.error ?? (isMade ? PART_LEFT : null);
}

const PART_LEFT = "The payment is only partly refunded.";
