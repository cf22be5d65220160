import { isDeepStrictEqual } from "node:util";
import { minorDigitsOf, toMajor } from "../../domain/pricing/money.ts";
import { NO_PAYMENT_DETAILS, type PaymentDetails } from "../../domain/shipment/payment-details.ts";
import { transition } from "../../domain/shipment/shipment-state.ts";
import { applyTrigger } from "../shipments/change-shipment.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import type { FoundPayment } from "./payment-provider.ts";

/** What is known of the payment besides what the provider says. */
export interface KnownPayment {
  readonly workspace: number;
  /** Of the checkout. */
  readonly version: number;
  /** What the checkout asks for, in minor units. */
  readonly amountMinor: number;
  readonly currency: string;
  readonly refundAttempt: number;
  /** Why the provider refused to make it; null when it did not. */
  readonly refundRefusal: string | null;
}

/**
 * A shipment as what its payment provider says leaves it; the row itself when it says nothing new. Only
 * what was read counts, so that it may be applied in any order and any number of times.
 */
export function applyFound(
  row: ShipmentRow,
  found: FoundPayment,
  known: KnownPayment,
  at: Date,
): ShipmentRow {
  const disagreement = disagreementOf(row, found, known);
  let next = row;
  if (found.status === "paid") {
    const mayPay = disagreement === null && transition("pay", next).next !== undefined;
    if (mayPay) next = applyTrigger(next, "pay", at);
    if (isGone(found)) {
      if (next.paymentStatus === "refund_pending") next = applyTrigger(next, "refund", at);
    } else if (next.paymentStatus === "refunded" && wasGone(row)) {
      next = applyTrigger(next, "reverse_refund", at);
    }
  }
  const details = {
    ...detailsOf(next, found, known),
    ...uncountedOf(row, found, known, disagreement),
  };
  return withDetails(row, next, details, at);
}

/**
 * A shipment once the account that was to be paid is closed to us, so that its payment there cannot be read any
 * more; the row itself when it says so already. Money that is on its way may still arrive,
 * so that no other checkout may be opened, and the price stays.
 *
 * @param closed the checkout, whether it may still be paid, and why the account is closed
 */
export function applyClosedAccount(
  row: ShipmentRow,
  closed: Pick<KnownPayment, "version"> & { readonly isOpen: boolean; readonly reason: string },
  at: Date,
): ShipmentRow {
  const { version, isOpen, reason } = closed;
  const details = row.paymentDetails ?? NO_PAYMENT_DETAILS;
  const isWatched = isUnpaid(row) && details.accepted !== version;
  const told = {
    ...details,
    checkout: null,
    error: isWatched && details.uncounted === undefined ? reason : details.error,
    ...(isWatched && (isOpen || details.processing) && { unseen: version }),
    refundError: row.paymentStatus === "refund_pending" ? reason : null,
  };
  return withDetails(row, row, told, at);
}

function withDetails(
  before: ShipmentRow,
  after: ShipmentRow,
  details: PaymentDetails,
  at: Date,
): ShipmentRow {
  const isSame = isDeepStrictEqual(details, before.paymentDetails ?? NO_PAYMENT_DETAILS);
  if (after === before && isSame) return before;
  return { ...after, paymentDetails: details, updatedAt: at };
}

/** Whether a checkout asks for, or took, what the shipment costs now: a tariff may change the currency, and no figure. */
export function asksForTotal(
  { amountMinor, currency }: Pick<KnownPayment, "amountMinor" | "currency">,
  row: ShipmentRow,
): boolean {
  return amountMinor === row.totalMinor && currency === row.currency;
}

export function isUnpaid({ paymentStatus }: ShipmentRow): boolean {
  return paymentStatus === "awaiting_payment" || paymentStatus === "voided";
}

function isGone(found: FoundPayment): boolean {
  return leftOf(found) === 0;
}

/** Whether the provider has said so before; a refund that was recorded by hand is none of its own. */
function wasGone({ paymentDetails, totalMinor }: ShipmentRow): boolean {
  const { refundedMinor, disputedMinor, dispute } = paymentDetails ?? NO_PAYMENT_DETAILS;
  // Before 0.2.0 a dispute of a part was taken for one of all.
  if (dispute === "lost" && disputedMinor === undefined) return true;
  return refundedMinor + (disputedMinor ?? 0) >= totalMinor;
}

export function leftOf(found: FoundPayment): number {
  return found.amountMinor - refundedOf(found) - disputedOf(found);
}

/**
 * How much went back by disputes, in minor units. One may be of all although a part was refunded: the bank
 * then takes the rest alone (https://support.stripe.com/questions/dispute-for-full-charge-amount-after-a-partial-refund-was-issued).
 */
function disputedOf(found: FoundPayment): number {
  return Math.min(found.lostMinor, found.amountMinor - refundedOf(found));
}

export function refundedOf({ refunds }: FoundPayment): number {
  return sum(refunds.filter(({ status }) => status === "succeeded"));
}

export function refundingOf({ refunds }: FoundPayment): number {
  return sum(refunds.filter(({ status }) => status === "pending"));
}

function sum(refunds: FoundPayment["refunds"]): number {
  return refunds.reduce((total, { amountMinor }) => total + amountMinor, 0);
}

/** Why what was paid does not count as paying the shipment; null when it does. */
function disagreementOf(
  row: ShipmentRow,
  { status, amountMinor, currency, reference }: FoundPayment,
  { workspace }: KnownPayment,
): string | null {
  if (status !== "paid" || !isUnpaid(row)) return null;
  if (reference !== `${workspace} ${row.reference}`) {
    return "The payment provider took money at the checkout, but names another shipment.";
  }
  if (asksForTotal({ amountMinor, currency }, row)) return null;
  if (minorDigitsOf(currency) === undefined) {
    return `The payment provider took money in ${currency}, a currency that is not known here.`;
  }
  const paid = `${toMajor(amountMinor, currency)} ${currency}`;
  return `The payment provider took ${paid}, which is not the shipment's total.`;
}

/** Money that does not count stays told until it has gone back or was accepted; what was unseen, until it is seen. */
function uncountedOf(
  { paymentDetails }: ShipmentRow,
  found: FoundPayment,
  { version }: KnownPayment,
  disagreement: string | null,
): Partial<PaymentDetails> {
  const { unseen, accepted } = paymentDetails ?? NO_PAYMENT_DETAILS;
  const earlier = unseen !== undefined && unseen !== version ? { unseen } : {};
  if (disagreement === null) return earlier;
  if (accepted === version) return { ...earlier, accepted };
  return { ...earlier, error: disagreement, ...(!isGone(found) && { uncounted: version }) };
}

function detailsOf(row: ShipmentRow, found: FoundPayment, known: KnownPayment): PaymentDetails {
  const isAwaited = row.paymentStatus === "awaiting_payment";
  const { checkout } = found;
  // Amounts are told in the shipment's currency.
  const isComparable = found.currency === row.currency;
  return {
    checkout:
      isAwaited && checkout !== null && asksForTotal(known, row)
        ? { url: checkout.url, expiresAtMs: checkout.expiresAt.getTime() }
        : null,
    processing: found.status === "processing",
    error: isAwaited ? found.error : null,
    refundError: row.paymentStatus === "refund_pending" ? refundErrorOf(found, known) : null,
    refundedMinor: isComparable ? refundedOf(found) : 0,
    ...(isComparable && found.lostMinor > 0 && { disputedMinor: disputedOf(found) }),
    dispute: found.dispute,
    ...(found.dispute === "open" && !found.isRefundBlocked && { disputeRefundable: true }),
  };
}

/**
 * Why what is left did not go back; null when nothing failed, or another refund is on its way. A refund
 * by hand may be taken back, or a dispute be won after all, when the attempt that counts has sent the rest:
 * that leads to no other attempt, so that it is reported.
 */
function refundErrorOf(
  found: FoundPayment,
  { refundAttempt, refundRefusal }: KnownPayment,
): string | null {
  if (refundingOf(found) > 0) return null;
  const { refunds } = found;
  const failed = refunds.filter(({ status }) => status === "failed");
  const last = failed.find(({ attempt }) => attempt === refundAttempt);
  const isMade = refunds.some(
    ({ status, attempt }) => status === "succeeded" && (attempt ?? 0) >= refundAttempt,
  );
  return refundRefusal ?? (isMade ? failed[0] : last)?.error ?? (isMade ? PART_LEFT : null);
}

const PART_LEFT = "A part is left to refund.";
