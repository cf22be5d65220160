import { randomBytes } from "node:crypto";
import type { Stripe } from "stripe";
import samples from "./samples/samples.json" with { type: "json" };

/** Returns a new id in Stripe's format, such as `re_1` and 22 letters and digits. */
export function newId(prefix: string): string {
  return `${prefix}_1${randomBytes(11).toString("hex")}`;
}

/** Returns the id in a field that can contain an id or the expanded object. */
export function idOf(field: string | { readonly id: string } | null): string | undefined {
  return typeof field === "object" ? field?.id : field;
}

/** Properties that every new object has. */
export interface Stamp {
  /** Creation time, in seconds since the epoch. */
  readonly created: number;
  readonly livemode: boolean;
}

/** Returns Stripe's sample object of a kind, with some properties replaced. */
function sampled<T extends object>(kind: keyof typeof samples, own: Partial<T>): T {
  return { ...(structuredClone(samples[kind]) as object as T), ...own };
}

/** Returns metadata as Stripe stores it: numbers as text, nulls removed. */
function stringMetadata(sent: Stripe.MetadataParam | "" | null = {}): Stripe.Metadata {
  return Object.fromEntries(
    Object.entries(sent || {}).flatMap(([key, value]) =>
      value === null || value === "" ? [] : [[key, String(value)]],
    ),
  );
}

/** Creates an account without details. It cannot charge yet. */
export function newAccount(
  { created }: Stamp,
  { metadata }: Stripe.AccountCreateParams,
  id = newId("acct"),
): Stripe.Account {
  const account = sampled<Stripe.Account>("account", {
    id,
    created,
    metadata: stringMetadata(metadata),
    details_submitted: false,
  });
  demand(account, ["business_profile.url", "external_account", "tos_acceptance.date"]);
  return account;
}

/** Sets an account's open requirements. The account can charge only if there are none. */
export function demand(account: Stripe.Account, due: string[]): void {
  account.charges_enabled = due.length === 0;
  account.payouts_enabled = due.length === 0;
  account.requirements!.currently_due = due;
  account.requirements!.past_due = due;
  account.requirements!.disabled_reason = due.length === 0 ? null : "requirements.past_due";
}

/** Creates a link to the account's onboarding page, valid for five minutes. */
export function newAccountLink({ created }: Stamp, account: string): Stripe.AccountLink {
  return sampled<Stripe.AccountLink>("account_link", {
    created,
    expires_at: created + 300,
    url: `https://connect.stripe.com/setup/s/${account}/${newId("link")}`,
  });
}

/** Creates an open session. The amount is in the currency's smallest unit. */
export function newSession(
  { created, livemode }: Stamp,
  amount: number,
  currency: string,
  params: Stripe.Checkout.SessionCreateParams,
): Stripe.Checkout.Session {
  const id = newId(`cs_${livemode ? "live" : "test"}`);
  return sampled<Stripe.Checkout.Session>("checkout.session", {
    id,
    created,
    livemode,
    amount_subtotal: amount,
    amount_total: amount,
    currency,
    cancel_url: params.cancel_url ?? null,
    client_reference_id: params.client_reference_id ?? null,
    expires_at: params.expires_at ?? created + 24 * 60 * 60,
    metadata: stringMetadata(params.metadata),
    payment_intent: null,
    payment_status: "unpaid",
    status: "open",
    success_url: params.success_url ?? null,
    url: `https://checkout.stripe.com/c/pay/${id}`,
  });
}

/** Creates a payment intent that awaits a payment method. */
export function newIntent(
  { created, livemode }: Stamp,
  { amount_total, currency }: Stripe.Checkout.Session,
  params: Stripe.Checkout.SessionCreateParams.PaymentIntentData = {},
): Stripe.PaymentIntent {
  return sampled<Stripe.PaymentIntent>("payment_intent", {
    id: newId("pi"),
    created,
    livemode,
    amount: amount_total ?? 0,
    amount_received: 0,
    canceled_at: null,
    currency: currency ?? "",
    description: params.description ?? null,
    last_payment_error: null,
    latest_charge: null,
    metadata: stringMetadata(params.metadata),
    next_action: null,
    processing: null,
    status: "requires_payment_method",
  });
}

/** Creates a charge for the full amount of an intent. */
export function newCharge(
  { created, livemode }: Stamp,
  { id, amount, currency, metadata }: Stripe.PaymentIntent,
  status: "succeeded" | "pending" | "failed",
): Stripe.Charge {
  const succeeded = status === "succeeded";
  return sampled<Stripe.Charge>("charge", {
    id: newId("ch"),
    created,
    livemode,
    amount,
    amount_captured: succeeded ? amount : 0,
    amount_refunded: 0,
    captured: succeeded,
    currency,
    disputed: false,
    failure_code: status === "failed" ? "card_declined" : null,
    failure_message: status === "failed" ? "Your card was declined." : null,
    metadata: { ...metadata },
    paid: status !== "failed",
    payment_intent: id,
    payment_method: newId("pm"),
    refunded: false,
    status,
  });
}

/** Status of a refund. Refunds that are pending or require action can still succeed or fail. */
export type RefundStatus = "pending" | "requires_action" | "succeeded" | "failed" | "canceled";

/** Creates a pending refund of a charge. The amount is in the currency's smallest unit. */
export function newRefund(
  { created }: Stamp,
  { id, currency, payment_intent }: Stripe.Charge,
  amount: number,
  metadata: Stripe.RefundCreateParams["metadata"],
): Stripe.Refund {
  return sampled<Stripe.Refund>("refund", {
    id: newId("re"),
    created,
    amount,
    charge: id,
    currency,
    metadata: stringMetadata(metadata),
    payment_intent,
    status: "pending",
  });
}

/** Creates an open dispute about a charge's full or partial amount. */
export function newDispute(
  { created, livemode }: Stamp,
  { id, currency, payment_intent }: Stripe.Charge,
  amount: number,
): Stripe.Dispute {
  return sampled<Stripe.Dispute>("dispute", {
    id: newId("du"),
    created,
    livemode,
    amount,
    charge: id,
    currency,
    is_charge_refundable: false,
    payment_intent,
    status: "needs_response",
  });
}

/** Creates an event that contains the current state of an object. */
export function newEvent(
  { created, livemode }: Stamp,
  type: Stripe.Event["type"],
  object: object,
  apiVersion: string,
): Stripe.EventBase {
  return sampled<Stripe.EventBase>("event", {
    id: newId("evt"),
    api_version: apiVersion,
    created,
    data: { object: structuredClone(object) },
    livemode,
    pending_webhooks: 1,
    type,
  });
}
