import { Stripe } from "stripe";
import { invalidRequest, missing } from "./errors.ts";
import {
  idOf,
  newCharge,
  newDispute,
  newEvent,
  newIntent,
  newRefund,
  newSession,
  type RefundStatus,
  type Stamp,
} from "./objects.ts";

/** Object that an event of this type contains. */
type Subject<T extends Stripe.Event["type"]> = Extract<Stripe.Event, { type: T }>["data"]["object"];

/** Shortest and longest lifetime of a session, in seconds. */
const EXPIRY_SECONDS = { least: 30 * 60, most: 24 * 60 * 60 };
/** Largest amount of a payment, in the currency's smallest unit. */
const LARGEST_AMOUNT = 99_999_999;

/** An account's objects at Stripe, and all operations that change them. */
export class Books {
  readonly account: Stripe.Account;
  readonly sessions = new Map<string, Stripe.Checkout.Session>();
  readonly intents = new Map<string, Stripe.PaymentIntent>();
  readonly charges = new Map<string, Stripe.Charge>();
  readonly refunds = new Map<string, Stripe.Refund>();
  readonly disputes = new Map<string, Stripe.Dispute>();
  /** Events of the account, oldest first. */
  readonly events: Stripe.EventBase[] = [];

  /** Whether the platform has access to the account. */
  authorised = true;
  /** Status of refunds that are requested from now on. */
  refundsBecome: RefundStatus = "succeeded";

  readonly #intentData = new Map<string, Stripe.Checkout.SessionCreateParams.PaymentIntentData>();
  readonly #stamp: () => Stamp;
  readonly #onEvent: (event: Stripe.EventBase) => void;

  /** @param onEvent called with each event */
  constructor(account: Stripe.Account, stamp: () => Stamp, onEvent: (event: Stripe.EventBase) => void) {
    this.account = account;
    this.#stamp = stamp;
    this.#onEvent = onEvent;
  }

  createSession(params: Stripe.Checkout.SessionCreateParams): Stripe.Checkout.Session {
    if (!this.account.charges_enabled) {
      throw invalidRequest(
        "Your account cannot currently make charges. If you are a customer trying to make a " +
          "purchase, please contact the owner of this site. Your transaction has not been processed.",
      );
    }
    const { price_data: price, quantity = 1 } = params.line_items![0]!;
    const amount = (price?.unit_amount ?? 0) * quantity;
    if (amount < 1 || amount > LARGEST_AMOUNT) {
      const code = amount < 1 ? "amount_too_small" : "amount_too_large";
      throw invalidRequest("The Checkout Session's total amount due is out of range.", { code });
    }
    const stamp = this.#stamp();
    const inSeconds = (params.expires_at ?? stamp.created + EXPIRY_SECONDS.most) - stamp.created;
    if (inSeconds < EXPIRY_SECONDS.least || inSeconds > EXPIRY_SECONDS.most) {
      const side = inSeconds < EXPIRY_SECONDS.least ? "at least 30 minutes" : "less than 24 hours";
      throw invalidRequest(`The \`expires_at\` timestamp must be ${side} from Checkout Session creation.`, {
        param: "expires_at",
      });
    }
    const session = newSession(stamp, amount, price!.currency, params);
    this.sessions.set(session.id, session);
    this.#intentData.set(session.id, params.payment_intent_data ?? {});
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
    if (intent !== undefined) {
      intent.status = "canceled";
      intent.cancellation_reason = "expired";
      this.#emit("payment_intent.canceled", intent);
    }
    this.#emit("checkout.session.expired", session);
    return session;
  }

  /** Expires the sessions whose expiry time has passed. */
  expireDue(): void {
    for (const { id, status, expires_at } of this.sessions.values()) {
      if (status === "open" && expires_at <= this.#stamp().created) this.expireSession(id);
    }
  }

  /** Completes the payment of an open session immediately. */
  pay(sessionId: string): void {
    const session = this.#openSession(sessionId);
    const intent = this.#confirm(session);
    this.#succeed(session, intent, this.#addCharge(intent, "succeeded"));
    this.#complete(session);
  }

  /** Declines a card payment. The session stays open for another attempt. */
  failPayment(sessionId: string): void {
    const intent = this.#confirm(this.#openSession(sessionId));
    this.#fail(intent, this.#addCharge(intent, "failed"));
  }

  /** Starts a payment with a method that takes days to succeed or fail. */
  startProcessing(sessionId: string): void {
    const session = this.#openSession(sessionId);
    const intent = this.#confirm(session);
    const charge = this.#addCharge(intent, "pending");
    intent.status = "processing";
    this.#emit("payment_intent.processing", intent);
    this.#emit("charge.pending", charge);
    this.#complete(session);
  }

  /** Completes a processing payment with success or failure. */
  completeProcessing(sessionId: string, outcome: "succeeded" | "failed"): void {
    const session = this.session(sessionId);
    const intent = this.#intentOf(session);
    if (intent?.status !== "processing") throw new Error(`${sessionId} is not processing`);
    const charge = this.charges.get(idOf(intent.latest_charge)!)!;
    Object.assign(charge, { ...newCharge(this.#stamp(), intent, outcome), id: charge.id });
    if (outcome === "failed") {
      this.#fail(intent, charge);
      this.#emit("checkout.session.async_payment_failed", session);
    } else {
      this.#succeed(session, intent, charge);
      this.#emit("checkout.session.async_payment_succeeded", session);
    }
  }

  createRefund({ payment_intent, ...params }: Stripe.RefundCreateParams): Stripe.Refund {
    const intent = this.intent(payment_intent!);
    if (intent.status !== "succeeded") {
      throw invalidRequest(`This PaymentIntent (${intent.id}) does not have a successful charge to refund.`);
    }
    const charge = this.charges.get(idOf(intent.latest_charge)!)!;
    const disputes = this.#disputesOf(charge);
    const lost = disputes.filter(({ status }) => status === "lost").reduce((sum, { amount }) => sum + amount, 0);
    const left = Math.max(0, charge.amount - charge.amount_refunded - lost);
    if (left === 0 && lost === 0) {
      throw invalidRequest(`Charge ${charge.id} has already been refunded.`, {
        code: "charge_already_refunded",
      });
    }
    // The remainder after a lost dispute can be refunded. An open dispute blocks refunds unless it is an inquiry.
    const blocking = disputes.filter((one) => isOpen(one) && !one.is_charge_refundable);
    if (left === 0 || blocking.length > 0) {
      throw invalidRequest(`Charge ${charge.id} has been charged back; cannot issue a refund.`, {
        code: "charge_disputed",
      });
    }
    const amount = params.amount ?? left;
    if (amount > left) {
      throw invalidRequest(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`, {
        param: "amount",
      });
    }
    const refund = newRefund(this.#stamp(), charge, amount, params.metadata);
    this.refunds.set(refund.id, refund);
    this.#addRefunded(charge, amount);
    const become = this.refundsBecome;
    if (become === "succeeded" || become === "requires_action") refund.status = become;
    this.#emit("refund.created", refund);
    this.#emit("charge.refunded", charge);
    if (become === "failed" || become === "canceled") this.completeRefund(refund.id, become);
    else if (amount === left) disputes.filter(isOpen).forEach((one) => this.#closeInquiry(one));
    return refund;
  }

  /**
   * Changes the status of a refund. If it fails or is canceled, the money returns to the account,
   * even if the refund had succeeded before.
   */
  completeRefund(id: string, status: "succeeded" | "failed" | "canceled"): void {
    const refund = found(this.refunds, "refund", id);
    if (refund.status === "failed" || refund.status === "canceled" || refund.status === status) {
      throw new Error(`${id} has a status of ${refund.status}`);
    }
    refund.status = status;
    if (status === "failed") refund.failure_reason = "expired_or_canceled_card";
    if (status !== "succeeded") {
      this.#addRefunded(this.charges.get(idOf(refund.charge)!)!, -refund.amount);
    }
    this.#emit("refund.updated", refund);
    this.#emit("charge.refund.updated", refund);
    if (status === "failed") this.#emit("refund.failed", refund);
  }

  openDispute(sessionId: string, amount?: number): Stripe.Dispute {
    const intent = this.#intentOf(this.session(sessionId));
    const charge = this.charges.get(idOf(intent?.latest_charge ?? null) ?? "");
    if (!charge?.paid || this.#disputesOf(charge).some(isOpen)) {
      throw new Error(`${sessionId} cannot be disputed`);
    }
    const dispute = newDispute(this.#stamp(), charge, amount ?? charge.amount);
    this.disputes.set(dispute.id, dispute);
    charge.disputed = true;
    this.#emit("charge.dispute.created", dispute);
    this.#emit("charge.dispute.funds_withdrawn", dispute);
    return dispute;
  }

  openInquiry(sessionId: string): Stripe.Dispute {
    const dispute = this.openDispute(sessionId);
    Object.assign(dispute, { status: "warning_needs_response", is_charge_refundable: true });
    return dispute;
  }

  escalate(id: string): void {
    const dispute = this.dispute(id);
    Object.assign(dispute, { status: "needs_response", is_charge_refundable: false });
    this.#emit("charge.dispute.updated", dispute);
  }

  #closeInquiry(dispute: Stripe.Dispute): void {
    Object.assign(dispute, { status: "warning_closed", is_charge_refundable: false });
    this.#emit("charge.dispute.closed", dispute);
  }

  closeDispute(id: string, outcome: "won" | "lost"): void {
    const dispute = this.dispute(id);
    if (!isOpen(dispute)) throw new Error(`${id} is closed`);
    dispute.status = outcome;
    dispute.is_charge_refundable = outcome === "won";
    if (outcome === "won") this.#emit("charge.dispute.funds_reinstated", dispute);
    this.#emit("charge.dispute.closed", dispute);
  }

  /** Emits an event about the account. */
  accountUpdated(): void {
    this.#emit("account.updated", this.account);
  }

  /** Revokes the platform's access to the account. */
  deauthorise(): void {
    this.authorised = false;
    const application = { id: "ca_1", object: "application", name: "Shipments" } as const;
    this.#emit("account.application.deauthorized", application);
  }

  session(id: string): Stripe.Checkout.Session {
    return found(this.sessions, "checkout.session", id);
  }

  intent(id: string): Stripe.PaymentIntent {
    return found(this.intents, "payment_intent", id);
  }

  dispute(id: string): Stripe.Dispute {
    return found(this.disputes, "dispute", id);
  }

  #openSession(id: string): Stripe.Checkout.Session {
    this.expireDue();
    const session = this.session(id);
    if (session.status !== "open") throw new Error(`${id} is ${session.status}, not open`);
    return session;
  }

  #intentOf(session: Stripe.Checkout.Session): Stripe.PaymentIntent | undefined {
    return this.intents.get(idOf(session.payment_intent) ?? "");
  }

  /** Returns the session's payment intent. Stripe creates it at the first confirmation. */
  #confirm(session: Stripe.Checkout.Session): Stripe.PaymentIntent {
    const known = this.#intentOf(session);
    if (known !== undefined) return known;
    const intent = newIntent(this.#stamp(), session, this.#intentData.get(session.id));
    this.intents.set(intent.id, intent);
    session.payment_intent = intent.id;
    this.#emit("payment_intent.created", intent);
    return intent;
  }

  #addCharge(intent: Stripe.PaymentIntent, status: "succeeded" | "pending" | "failed"): Stripe.Charge {
    const charge = newCharge(this.#stamp(), intent, status);
    this.charges.set(charge.id, charge);
    intent.latest_charge = charge.id;
    return charge;
  }

  #succeed(session: Stripe.Checkout.Session, intent: Stripe.PaymentIntent, charge: Stripe.Charge): void {
    intent.status = "succeeded";
    intent.amount_received = intent.amount;
    intent.last_payment_error = null;
    session.payment_status = "paid";
    this.#emit("charge.succeeded", charge);
    this.#emit("payment_intent.succeeded", intent);
  }

  #fail(intent: Stripe.PaymentIntent, charge: Stripe.Charge): void {
    intent.status = "requires_payment_method";
    intent.last_payment_error = {
      charge: charge.id,
      code: "card_declined",
      message: charge.failure_message!,
      type: "card_error",
    };
    this.#emit("charge.failed", charge);
    this.#emit("payment_intent.payment_failed", intent);
  }

  #complete(session: Stripe.Checkout.Session): void {
    session.status = "complete";
    session.url = null;
    this.#emit("checkout.session.completed", session);
  }

  #disputesOf(charge: Stripe.Charge): Stripe.Dispute[] {
    return [...this.disputes.values()].filter((dispute) => idOf(dispute.charge) === charge.id);
  }

  #addRefunded(charge: Stripe.Charge, amount: number): void {
    charge.amount_refunded += amount;
    charge.refunded = charge.amount_refunded === charge.amount;
  }

  #emit<T extends Stripe.Event["type"]>(type: T, object: Subject<T>): void {
    const event = newEvent(this.#stamp(), type, object, Stripe.API_VERSION);
    this.events.push(event);
    this.#onEvent(event);
  }
}

/** Whether a dispute is undecided. */
function isOpen({ status }: Stripe.Dispute): boolean {
  return status === "needs_response" || status === "warning_needs_response";
}

/** Returns the object with this id. @throws StripeRefusal if absent */
function found<T>(objects: ReadonlyMap<string, T>, kind: string, id: string): T {
  const object = objects.get(id);
  if (object === undefined) throw missing(kind, id);
  return object;
}
