import type Stripe from "stripe";
import type { ProviderEvent } from "../payment-provider.ts";

/**
 * Maximum age of a signature, in seconds. It does not affect redelivered events, because Stripe signs each attempt
 * again.
 */
export const TOLERANCE_SECONDS = 300;

const PAYMENT_EVENT = /^(checkout\.session|payment_intent|charge|refund)\./;
const ACCOUNT_EVENT = /^(account\.(updated|application\.deauthorized)|capability\.updated)$/;

/** Event types to list, all about paid payments. Full names, because Stripe's API accepts no patterns. */
export const LISTED_EVENT_TYPES = [
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

/**
 * Format of ids, event types and references. A workspace with its own key can sign any event, so
 * contents are not trusted.
 */
const NAME = /^[\x21-\x7e]{1,255}$/;

/** Converts an event. Returns `undefined` if it is irrelevant to this service. */
export function toProviderEvent(event: Stripe.Event): ProviderEvent | undefined {
  const [id, type, account] = [event.id, event.type, event.account].map(nameOf);
  if (id === undefined || type === undefined) return undefined;
  const common = { id, type, live: event.livemode, account: account ?? null };
  if (ACCOUNT_EVENT.test(type)) return { ...common, shipment: null, payment: null };
  if (!PAYMENT_EVENT.test(type)) return undefined;
  const about = event.data?.object as PaymentObject | undefined;
  const shipment = nameOf(about?.metadata?.shipment) ?? null;
  const payment = nameOf(about?.object === "payment_intent" ? about.id : paymentOf(about)) ?? null;
  return shipment === null && payment === null ? undefined : { ...common, shipment, payment };
}

/** Common properties of payment objects. Values are unvalidated. */
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
