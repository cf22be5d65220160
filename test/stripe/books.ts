import { Stripe } from "stripe";
import { checkAmount, written } from "./currencies.ts";
import { invalidRequest, missing } from "./errors.ts";
import {
  idOf,
  newCharge,
  newDispute,
  newId,
  newIntent,
  newRefund,
  newSession,
  type RefundStatus,
  type Stamp,
} from "./objects.ts";

/** What an event of this type is about. */
type Subject<T extends Stripe.Event["type"]> = Extract<Stripe.Event, { type: T }>["data"]["object"];

/** What a session may still become before it is half an hour old, and after a day. */
const EXPIRY_SECONDS = { least: 30 * 60, most: 24 * 60 * 60 };

/** What becomes of a refund at once, and where that is not the end, after so many seconds. */
export interface RefundPlan {
  readonly status: RefundStatus;
  readonly later?: { readonly status: "succeeded" | "failed"; readonly afterSeconds: number };
}

/** What one account has at Stripe, and all that can happen to it there. */
export class Books {
  readonly account: Stripe.Account;
  readonly sessions = new Map<string, Stripe.Checkout.Session>();
  readonly intents = new Map<string, Stripe.PaymentIntent>();
  readonly charges = new Map<string, Stripe.Charge>();
  readonly refunds = new Map<string, Stripe.Refund>();
  readonly disputes = new Map<string, Stripe.Dispute>();
  /** Oldest first. */
  readonly events: Stripe.EventBase[] = [];

  /** Whether the platform may act for the account. */
  authorised = true;
  /** What becomes of refunds that are asked for from now on. */
  refundsBecome: RefundPlan = { status: "succeeded" };
  /** The request that is being answered, which events tell as their cause. */
  cause: Stripe.Event.Request = { id: null, idempotency_key: null };

  readonly #intentData = new Map<string, Stripe.Checkout.SessionCreateParams.PaymentIntentData>();
  /** How refunds end that were planned to do so later. */
  readonly #planned = new Map<string, { status: "succeeded" | "failed"; atSeconds: number }>();
  readonly #now: () => number;
  readonly #livemode: boolean;
  readonly #onEvent: (event: Stripe.EventBase, books: Books) => void;

  /**
   * @param now in milliseconds since 1970
   * @param onEvent is told of each event as it happens
   */
  constructor(
    account: Stripe.Account,
    livemode: boolean,
    now: () => number,
    onEvent: (event: Stripe.EventBase, books: Books) => void,
  ) {
    this.account = account;
    this.#livemode = livemode;
    this.#now = now;
    this.#onEvent = onEvent;
  }

  get stamp(): Stamp {
    return { created: Math.floor(this.#now() / 1000), livemode: this.#livemode };
  }

  createSession(params: Stripe.Checkout.SessionCreateParams): Stripe.Checkout.Session {
    if (!this.account.charges_enabled) {
      throw invalidRequest(
        "Your account cannot currently make charges. If you are a customer trying to make a " +
          "purchase, please contact the owner of this site. Your transaction has not been processed.",
      );
    }
    const { currency, amount } = totalOf(params.line_items ?? []);
    checkAmount(amount, currency);
    const { created } = this.stamp;
    const inSeconds = (params.expires_at ?? created + EXPIRY_SECONDS.most) - created;
    if (inSeconds < EXPIRY_SECONDS.least || inSeconds > EXPIRY_SECONDS.most) {
      const side = inSeconds < EXPIRY_SECONDS.least ? "at least 30 minutes" : "less than 24 hours";
      throw invalidRequest(
        `The \`expires_at\` timestamp must be ${side} from Checkout Session creation.`,
        { param: "expires_at" },
      );
    }
    const session = newSession(this.stamp, amount, currency, params);
    this.sessions.set(session.id, session);
    if (params.payment_intent_data !== undefined) {
      this.#intentData.set(session.id, params.payment_intent_data);
    }
    return session;
  }

  expireSession(id: string): Stripe.Checkout.Session {
    const session = this.session(id);
    if (session.status !== "open") {
      throw invalidRequest(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session ` +
          `has a status of ${session.status}.`,
      );
    }
    session.status = "expired";
    session.url = null;
    const intent = this.#intentOf(session);
    if (intent !== undefined) this.#cancel(intent, "expired");
    this.#emit("checkout.session.expired", session);
    return session;
  }

  /** Does what is due by now: expires sessions, and settles refunds that were planned so. */
  settleDue(): void {
    const { created } = this.stamp;
    for (const [id, { status, atSeconds }] of this.#planned) {
      if (atSeconds > created) continue;
      this.#planned.delete(id);
      if (this.refund(id).status === "pending") this.settleRefund(id, status);
    }
    for (const { id, status, expires_at } of this.sessions.values()) {
      if (status === "open" && expires_at <= created) this.expireSession(id);
    }
  }

  /** Somebody pays on the page of an open session, at once. */
  pay(sessionId: string): Stripe.Checkout.Session {
    const session = this.#openSession(sessionId);
    if (session.payment_status === "no_payment_required") return this.#complete(session);
    const intent = this.#confirm(session);
    this.#succeed(intent, this.#addCharge(intent, "succeeded"));
    session.payment_status = "paid";
    return this.#complete(session);
  }

  /** Somebody's card is declined on the page; the session stays open for another try. */
  failPayment(sessionId: string): Stripe.Checkout.Session {
    const session = this.#openSession(sessionId);
    const intent = this.#confirm(session);
    this.#fail(intent, this.#addCharge(intent, "failed"));
    return session;
  }

  /** Somebody pays by a method that takes days to succeed or fail. */
  startProcessing(sessionId: string): Stripe.Checkout.Session {
    const session = this.#openSession(sessionId);
    const intent = this.#confirm(session);
    const charge = this.#addCharge(intent, "pending");
    intent.status = "processing";
    this.#emit("payment_intent.processing", intent);
    this.#emit("charge.pending", charge);
    return this.#complete(session);
  }

  /** A payment that was processing has succeeded or failed. */
  settleProcessing(sessionId: string, outcome: "succeeded" | "failed"): Stripe.Checkout.Session {
    const session = this.session(sessionId);
    const intent = this.#intentOf(session);
    if (intent?.status !== "processing") throw new Error(`${sessionId} is not processing`);
    const charge = this.charge(idOf(intent.latest_charge) ?? "");
    if (outcome === "failed") {
      Object.assign(charge, { ...newCharge(this.stamp, intent, "failed"), id: charge.id });
      this.#fail(intent, charge);
      this.#emit("checkout.session.async_payment_failed", session);
      return session;
    }
    Object.assign(charge, { ...newCharge(this.stamp, intent, "succeeded"), id: charge.id });
    this.#succeed(intent, charge);
    session.payment_status = "paid";
    this.#emit("checkout.session.async_payment_succeeded", session);
    return session;
  }

  cancelIntent(id: string, reason?: Stripe.PaymentIntent.CancellationReason): Stripe.PaymentIntent {
    const intent = this.intent(id);
    if (!["requires_payment_method", "requires_action", "processing"].includes(intent.status)) {
      throw invalidRequest(
        "You cannot cancel this PaymentIntent because it has a status of " +
          `${intent.status}. Only a PaymentIntent with one of the following statuses may be ` +
          "canceled: requires_payment_method, requires_capture, requires_confirmation, " +
          "requires_action, processing.",
        { code: "payment_intent_unexpected_state" },
      );
    }
    return this.#cancel(intent, reason ?? null);
  }

  createRefund(params: Stripe.RefundCreateParams): Stripe.Refund {
    const charge = this.#chargeToRefund(params);
    const disputes = this.#disputesOf(charge);
    const lost = disputes.reduce(
      (sum, { status, amount }) => sum + (status === "lost" ? amount : 0),
      0,
    );
    const left = Math.max(0, charge.amount - charge.amount_refunded - lost);
    if (left === 0 && lost === 0) {
      throw invalidRequest(`Charge ${charge.id} has already been refunded.`, {
        code: "charge_already_refunded",
      });
    }
    // What a dispute that was lost left can be refunded; while one is open, nothing can.
    if (left === 0 || disputes.some((it) => isOpen(it) && !it.is_charge_refundable)) {
      throw invalidRequest(`Charge ${charge.id} has been charged back; cannot issue a refund.`, {
        code: "charge_disputed",
      });
    }
    const amount = params.amount ?? left;
    if (amount > left) {
      throw invalidRequest(
        `Refund amount (${written(amount, charge.currency)}) is greater than ` +
          (left === charge.amount ? "charge amount" : "unrefunded amount on charge") +
          ` (${written(left, charge.currency)})`,
        { param: "amount" },
      );
    }
    const refund = newRefund(this.stamp, charge, amount, "pending", params);
    this.refunds.set(refund.id, refund);
    this.#addRefunded(charge, amount);
    const { status, later } = this.refundsBecome;
    if (later !== undefined) {
      const atSeconds = this.stamp.created + later.afterSeconds;
      this.#planned.set(refund.id, { status: later.status, atSeconds });
    }
    if (status === "succeeded" || status === "requires_action") this.#become(refund, status);
    this.#emit("refund.created", refund);
    this.#emit("charge.refunded", charge);
    if (status === "failed" || status === "canceled") this.settleRefund(refund.id, status);
    return refund;
  }

  /**
   * A refund has succeeded, failed or been canceled: in the last two cases the money is back with
   * the account, whatever was said before.
   */
  settleRefund(id: string, status: "succeeded" | "failed" | "canceled"): Stripe.Refund {
    const refund = this.refund(id);
    if (refund.status === "failed" || refund.status === "canceled" || refund.status === status) {
      throw invalidRequest(`Refund ${id} has a status of ${refund.status}.`);
    }
    const charge = this.charge(idOf(refund.charge) ?? "");
    this.#become(refund, status);
    if (status === "failed") {
      refund.failure_reason = "expired_or_canceled_card";
      refund.failure_balance_transaction = newId("txn");
    }
    if (status !== "succeeded") this.#addRefunded(charge, -refund.amount);
    this.#emit("refund.updated", refund);
    this.#emit("charge.refund.updated", refund);
    if (status === "failed") this.#emit("refund.failed", refund);
    return refund;
  }

  /** A card's holder disputes a charge; an inquiry withdraws no funds and lets it be refunded. */
  openDispute(chargeId: string, amount: number | undefined, inquiry: boolean): Stripe.Dispute {
    const charge = this.charge(chargeId);
    const isDisputed = this.#disputesOf(charge).some(isOpen);
    if (!charge.paid || isDisputed) throw new Error(`${chargeId} cannot be disputed`);
    const dispute = newDispute(this.stamp, charge, amount ?? charge.amount, inquiry);
    this.disputes.set(dispute.id, dispute);
    charge.disputed = true;
    this.#emit("charge.dispute.created", dispute);
    if (!inquiry) this.#emit("charge.dispute.funds_withdrawn", dispute);
    return dispute;
  }

  closeDispute(id: string, outcome: "won" | "lost"): Stripe.Dispute {
    const dispute = this.dispute(id);
    if (!isOpen(dispute)) throw new Error(`${id} is closed`);
    const inquiry = dispute.status.startsWith("warning");
    dispute.status = inquiry ? "warning_closed" : outcome;
    dispute.is_charge_refundable = inquiry || outcome === "won";
    if (!inquiry && outcome === "won") this.#emit("charge.dispute.funds_reinstated", dispute);
    this.#emit("charge.dispute.closed", dispute);
    return dispute;
  }

  /** Tells that the account itself changed. */
  accountUpdated(): void {
    this.#emit("account.updated", this.account);
  }

  /** The account's owner ends what the platform may do for it. */
  deauthorise(): void {
    this.authorised = false;
    this.#emit("account.application.deauthorized", {
      id: newId("ca"),
      object: "application",
      name: "Shipments",
    });
  }

  session(id: string, param = "session"): Stripe.Checkout.Session {
    return this.sessions.get(id) ?? fail(missing("checkout.session", id, param));
  }

  intent(id: string, param = "intent"): Stripe.PaymentIntent {
    return this.intents.get(id) ?? fail(missing("payment_intent", id, param));
  }

  charge(id: string, param = "charge"): Stripe.Charge {
    return this.charges.get(id) ?? fail(missing("charge", id, param));
  }

  refund(id: string): Stripe.Refund {
    return this.refunds.get(id) ?? fail(missing("refund", id));
  }

  dispute(id: string): Stripe.Dispute {
    return this.disputes.get(id) ?? fail(missing("dispute", id, "dispute"));
  }

  event(id: string): Stripe.EventBase {
    return this.events.find((event) => event.id === id) ?? fail(missing("event", id));
  }

  #openSession(id: string): Stripe.Checkout.Session {
    this.settleDue();
    const session = this.session(id);
    if (session.status !== "open") throw new Error(`${id} is ${session.status}, not open`);
    return session;
  }

  #intentOf(session: Stripe.Checkout.Session): Stripe.PaymentIntent | undefined {
    return this.intents.get(idOf(session.payment_intent) ?? "");
  }

  /** The session's intent, which Stripe makes when the page is first confirmed. */
  #confirm(session: Stripe.Checkout.Session): Stripe.PaymentIntent {
    const found = this.#intentOf(session);
    if (found !== undefined) return found;
    const { amount_total, currency, id } = session;
    const intent = newIntent(
      this.stamp,
      amount_total ?? 0,
      currency ?? "",
      this.#intentData.get(id),
    );
    this.intents.set(intent.id, intent);
    session.payment_intent = intent.id;
    this.#emit("payment_intent.created", intent);
    return intent;
  }

  #addCharge(
    intent: Stripe.PaymentIntent,
    status: "succeeded" | "pending" | "failed",
  ): Stripe.Charge {
    const charge = newCharge(this.stamp, intent, status);
    this.charges.set(charge.id, charge);
    intent.latest_charge = charge.id;
    return charge;
  }

  #succeed(intent: Stripe.PaymentIntent, charge: Stripe.Charge): void {
    intent.status = "succeeded";
    intent.amount_received = intent.amount;
    intent.payment_method = charge.payment_method;
    intent.last_payment_error = null;
    this.#emit("charge.succeeded", charge);
    this.#emit("payment_intent.succeeded", intent);
  }

  #fail(intent: Stripe.PaymentIntent, charge: Stripe.Charge): void {
    intent.status = "requires_payment_method";
    intent.last_payment_error = {
      charge: charge.id,
      code: "card_declined",
      decline_code: "generic_decline",
      doc_url: "https://stripe.com/docs/error-codes/card-declined",
      message: "Your card was declined.",
      type: "card_error",
    };
    this.#emit("charge.failed", charge);
    this.#emit("payment_intent.payment_failed", intent);
  }

  #complete(session: Stripe.Checkout.Session): Stripe.Checkout.Session {
    session.status = "complete";
    session.url = null;
    session.customer_details = {
      address: null,
      business_name: null,
      email: session.customer_email ?? "jenny@example.com",
      individual_name: null,
      name: "Jenny Rosen",
      phone: null,
      tax_exempt: "none",
      tax_ids: [],
    };
    this.#emit("checkout.session.completed", session);
    return session;
  }

  #cancel(
    intent: Stripe.PaymentIntent,
    reason: Stripe.PaymentIntent.CancellationReason | null,
  ): Stripe.PaymentIntent {
    intent.status = "canceled";
    intent.canceled_at = this.stamp.created;
    intent.cancellation_reason = reason;
    this.#emit("payment_intent.canceled", intent);
    return intent;
  }

  #chargeToRefund({ charge, payment_intent }: Stripe.RefundCreateParams): Stripe.Charge {
    if (charge !== undefined) return this.charge(charge);
    const { latest_charge, status } = this.intent(payment_intent ?? "", "payment_intent");
    if (status !== "succeeded") {
      throw invalidRequest(
        `This PaymentIntent (${payment_intent}) does not have a successful charge to refund.`,
      );
    }
    return this.charge(idOf(latest_charge) ?? "");
  }

  #disputesOf(charge: Stripe.Charge): Stripe.Dispute[] {
    return [...this.disputes.values()].filter((dispute) => idOf(dispute.charge) === charge.id);
  }

  #addRefunded(charge: Stripe.Charge, amount: number): void {
    charge.amount_refunded += amount;
    charge.refunded = charge.amount_refunded === charge.amount;
  }

  #become(refund: Stripe.Refund, status: RefundStatus): void {
    refund.status = status;
    delete refund.pending_reason;
  }

  #emit<T extends Stripe.Event["type"]>(type: T, object: Subject<T>): void {
    const event: Stripe.EventBase = {
      id: newId("evt"),
      object: "event",
      api_version: Stripe.API_VERSION,
      created: this.stamp.created,
      data: { object: structuredClone(object) },
      livemode: this.#livemode,
      pending_webhooks: 1,
      request: this.cause,
      type,
    };
    this.events.push(event);
    this.#onEvent(event, this);
  }
}

function totalOf(items: readonly Stripe.Checkout.SessionCreateParams.LineItem[]) {
  const prices = items.map(({ price_data: price, quantity = 1 }) => ({
    currency: price?.currency.toLowerCase() ?? "",
    amount: (price?.unit_amount ?? 0) * quantity,
  }));
  const currency = prices[0]?.currency ?? "";
  if (
    !/^[a-z]{3}$/.test(currency) ||
    !Intl.supportedValuesOf("currency").includes(currency.toUpperCase())
  ) {
    throw invalidRequest(`Invalid currency: ${currency}.`, {
      param: "line_items[0][price_data][currency]",
    });
  }
  if (prices.some((price) => price.currency !== currency)) {
    throw invalidRequest("All line items must use the same currency.", { param: "line_items" });
  }
  return { currency, amount: prices.reduce((sum, { amount }) => sum + amount, 0) };
}

/** Whether a dispute is not decided. */
function isOpen({ status }: Stripe.Dispute): boolean {
  return /needs_response|under_review/.test(status);
}

function fail(error: Error): never {
  throw error;
}
