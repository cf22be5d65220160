import type Stripe from "stripe";
import type { DisputeStatus } from "../../../domain/shipment/payment-details.ts";
import type { FoundPayment, FoundRefund } from "../payment-provider.ts";
import { fromStripeAmount } from "./stripe-amounts.ts";

export interface StripePayment {
  readonly session: Stripe.Checkout.Session;
  /** Null while nobody has tried to pay. */
  readonly intent: Stripe.PaymentIntent | null;
  readonly refunds: readonly Stripe.Refund[];
  readonly disputes: readonly Stripe.Dispute[];
}

export function foundPayment(found: StripePayment): FoundPayment {
  const { session, intent } = found;
  const currency = (intent?.currency ?? session.currency ?? "").toUpperCase();
  const { workspace, shipment } = session.metadata ?? {};
  const status = statusOf(session, intent);
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
    refunds: found.refunds.map((refund) => foundRefund(refund, currency)),
    ...disputed(found.disputes, currency),
  };
}

function statusOf(
  { status }: Stripe.Checkout.Session,
  intent: Stripe.PaymentIntent | null,
): FoundPayment["status"] {
  if (intent?.status === "succeeded") return "paid";
  if (status === "open") return "unpaid";
  if (status === "expired") return "failed";
  // It is complete: what still waits for something, waits for a bank.
  const isOver = intent === null || /^(canceled|requires_payment_method)$/.test(intent.status);
  return isOver ? "failed" : "processing";
}

function errorOf(
  { status }: Stripe.Checkout.Session,
  intent: Stripe.PaymentIntent | null,
): string | null {
  const said = intent?.last_payment_error?.message ?? null;
  if (status === "open") return said;
  return (
    said ??
    (status === "expired" ? "The checkout ended before it was paid." : "The payment failed.")
  );
}

const REFUND_STATUS: Readonly<Record<string, FoundRefund["status"]>> = {
  succeeded: "succeeded",
  failed: "failed",
  canceled: "failed",
};

function foundRefund(refund: Stripe.Refund, currency: string): FoundRefund {
  const status = REFUND_STATUS[refund.status ?? ""] ?? "pending";
  const attempt = Number(refund.metadata?.["attempt"] ?? NaN);
  return {
    status,
    amountMinor: fromStripeAmount(refund.amount, currency),
    attempt: Number.isInteger(attempt) ? attempt : null,
    error:
      status === "failed" ? `The refund failed: ${refund.failure_reason ?? refund.status}.` : null,
  };
}

const DISPUTE_STATUS: Readonly<Record<string, DisputeStatus>> = {
  lost: "lost",
  won: "won",
  prevented: "won",
  warning_closed: "won",
};

/** The statuses of several disputes, of which the first that one of them has is that of the payment. */
const FOREMOST: readonly DisputeStatus[] = ["open", "lost", "won"];

function disputeStatusOf({ status }: Stripe.Dispute): DisputeStatus {
  return DISPUTE_STATUS[status] ?? "open";
}

function disputed(
  disputes: readonly Stripe.Dispute[],
  currency: string,
): Pick<FoundPayment, "dispute" | "lostMinor"> {
  const statuses = disputes.map(disputeStatusOf);
  const lost = disputes.filter((dispute) => disputeStatusOf(dispute) === "lost");
  return {
    dispute: FOREMOST.find((status) => statuses.includes(status)) ?? null,
    lostMinor: lost.reduce((sum, { amount }) => sum + fromStripeAmount(amount, currency), 0),
  };
}
