import type Stripe from "stripe";
import type { Notice } from "../payment-provider.ts";

/** How long ago a notice may have been signed, in seconds; Stripe signs each attempt anew. */
export const TOLERANCE_SECONDS = 300;

/** Objects that tell of a payment, by the beginning of an event's type. */
const OF_PAYMENTS = /^(checkout\.session|payment_intent|charge|refund)\./;
const OF_ACCOUNTS = /^(account\.(updated|application\.deauthorized)|capability\.updated)$/;

/** What may become of a payment that was settled. By their whole names, as lists of types take no others. */
export const TOLD_AFTERWARDS = [
  "charge.dispute.closed",
  "charge.dispute.created",
  "charge.dispute.funds_reinstated",
  "charge.dispute.funds_withdrawn",
  "charge.dispute.updated",
  "charge.refund.updated",
  "charge.refunded",
  "refund.created",
  "refund.failed",
  "refund.updated",
];

/** A name of Stripe's, or of ours; whoever signs notices may write anything in their place. */
const NAME = /^[\x21-\x7e]{1,255}$/;

/** What an event tells; undefined when it is about nothing of ours. */
export function noticeOf(event: Stripe.Event): Notice | undefined {
  const [id, type, account] = [event.id, event.type, event.account].map(nameOf);
  if (id === undefined || type === undefined) return undefined;
  const told = { id, type, live: event.livemode, account: account ?? null };
  if (OF_ACCOUNTS.test(type)) return { ...told, shipment: null, payment: null };
  if (!OF_PAYMENTS.test(type)) return undefined;
  const about = event.data?.object as PaymentObject | undefined;
  const shipment = nameOf(about?.metadata?.shipment) ?? null;
  const payment = nameOf(about?.object === "payment_intent" ? about.id : paymentOf(about)) ?? null;
  return shipment === null && payment === null ? undefined : { ...told, shipment, payment };
}

/** What the objects of payments have in common, where they are any. */
interface PaymentObject {
  readonly object?: unknown;
  readonly id?: unknown;
  readonly metadata?: { readonly shipment?: unknown } | null;
  readonly payment_intent?: { readonly id?: unknown } | string | null;
}

function paymentOf(about: PaymentObject | undefined): unknown {
  const intent = about?.payment_intent;
  return typeof intent === "string" ? intent : intent?.id;
}

function nameOf(value: unknown): string | undefined {
  return typeof value === "string" && NAME.test(value) ? value : undefined;
}
