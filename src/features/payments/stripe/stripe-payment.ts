import type Stripe from "stripe";
import type { DisputeStatus } from "../../../domain/shipment/payment-details.ts";
import type { PaymentSnapshot, RefundSnapshot } from "../payment-provider.ts";
import { fromStripeAmount } from "./stripe-amounts.ts";

export interface StripePayment {
  readonly session: Stripe.Checkout.Session;
  /** Null until the first attempt to pay. */
  readonly intent: Stripe.PaymentIntent | null;
  readonly refunds: readonly Stripe.Refund[];
  readonly disputes: readonly Stripe.Dispute[];
}

export interface UnknownStatus {
  /** Type of the object, such as `dispute`. */
  readonly object: string;
  readonly id: string;
  readonly status: string;
}

/**
 * Converts a payment to a snapshot.
 *
 * @param report receives each status that is missing from the maps below
 */
export function paymentSnapshot(payment: StripePayment, report: (unknown: UnknownStatus) => void): PaymentSnapshot {
  const { session, intent } = payment;
  const currency = (intent?.currency ?? session.currency ?? "").toUpperCase();
  const { workspace, shipment } = session.metadata ?? {};
  const status = statusOf(session, intent, report);
  return {
    openedAt: new Date(session.created * 1_000),
    checkout:
      session.status === "open" && session.url !== null
        ? { url: session.url, expiresAt: new Date(session.expires_at * 1_000) }
        : null,
    status,
    error: status === "unpaid" || status === "failed" ? errorOf(session, intent) : null,
    reference: workspace && shipment ? `${workspace} ${shipment}` : null,
    payment: intent?.id ?? null,
    amountMinor: fromStripeAmount(intent?.amount_received ?? 0, currency),
    currency,
    refunds: payment.refunds.map((refund) => refundSnapshot(refund, currency, report)),
    ...disputed(payment.disputes, currency, report),
  };
}

/** Statuses that the SDK lists, without its placeholder for future statuses. */
type Known<Status extends string> = Status extends string ? (string extends Status ? never : Status) : never;

/** Maps a status. Reports an unknown status and returns `fallback`. */
function mapStatus<Ours>(
  map: Readonly<Record<string, Ours>>,
  { object, id, status }: UnknownStatus,
  fallback: Ours,
  report: (unknown: UnknownStatus) => void,
): Ours {
  if (Object.hasOwn(map, status)) return map[status]!;
  report({ object, id, status });
  return fallback;
}

/**
 * Status of an intent after its checkout is complete. An unfinished intent then waits for a bank, so it is
 * `processing`.
 */
const INTENT_STATUS: Readonly<Record<Known<Stripe.PaymentIntent.Status>, "failed" | "processing" | "paid">> = {
  canceled: "failed",
  processing: "processing",
  requires_action: "processing",
  requires_capture: "processing",
  requires_confirmation: "processing",
  requires_payment_method: "failed",
  succeeded: "paid",
};

function statusOf(
  { status }: Stripe.Checkout.Session,
  intent: Stripe.PaymentIntent | null,
  report: (unknown: UnknownStatus) => void,
): PaymentSnapshot["status"] {
  const ofIntent = intent === null ? "failed" : mapStatus(INTENT_STATUS, intent, "processing", report);
  if (ofIntent === "paid") return "paid";
  if (status === "open") return "unpaid";
  return status === "expired" ? "failed" : ofIntent;
}

function errorOf({ status }: Stripe.Checkout.Session, intent: Stripe.PaymentIntent | null): string | null {
  const message = intent?.last_payment_error?.message ?? null;
  if (status === "open") return message;
  return message ?? (status === "expired" ? "The checkout expired before it was paid." : "The payment failed.");
}

/** Refund statuses from Stripe's documentation. The SDK types them as strings. */
const REFUND_STATUS: Readonly<Record<string, RefundSnapshot["status"]>> = {
  pending: "pending",
  requires_action: "pending",
  succeeded: "succeeded",
  failed: "failed",
  canceled: "failed",
};

function refundSnapshot(
  refund: Stripe.Refund,
  currency: string,
  report: (unknown: UnknownStatus) => void,
): RefundSnapshot {
  const named = { ...refund, status: refund.status ?? "pending" };
  const status = mapStatus(REFUND_STATUS, named, "pending", report);
  const attempt = Number(refund.metadata?.["attempt"] ?? NaN);
  return {
    status,
    amountMinor: fromStripeAmount(refund.amount, currency),
    attempt: Number.isInteger(attempt) ? attempt : null,
    error: status === "failed" ? `The refund failed: ${refund.failure_reason ?? refund.status}.` : null,
  };
}

/**
 * Inquiries (`warning_...`) and appeals count as open. A prevented dispute is lost: the card
 * network refunded the buyer before it was opened (Rapid Dispute Resolution).
 */
const DISPUTE_STATUS: Readonly<Record<Known<Stripe.Dispute.Status>, DisputeStatus>> = {
  warning_needs_response: "open",
  warning_under_review: "open",
  warning_closed: "won",
  needs_response: "open",
  under_review: "open",
  appeal_needs_response: "open",
  appeal_under_review: "open",
  prevented: "lost",
  won: "won",
  lost: "lost",
};

/** Precedence of dispute statuses for a payment with several disputes. */
const PRECEDENCE: readonly DisputeStatus[] = ["open", "lost", "won"];

function disputed(
  disputes: readonly Stripe.Dispute[],
  currency: string,
  report: (unknown: UnknownStatus) => void,
): Pick<PaymentSnapshot, "dispute" | "isRefundBlocked" | "lostMinor"> {
  const known = disputes.map((dispute) => ({
    ...dispute,
    status: mapStatus(DISPUTE_STATUS, dispute, "open", report),
  }));
  const lost = known.filter(({ status }) => status === "lost");
  return {
    dispute: PRECEDENCE.find((each) => known.some(({ status }) => status === each)) ?? null,
    isRefundBlocked: known.some(({ status, is_charge_refundable }) => status === "open" && !is_charge_refundable),
    lostMinor: lost.reduce((sum, { amount }) => sum + fromStripeAmount(amount, currency), 0),
  };
}
