import { Stripe } from "stripe";
import { whenOver } from "../support/when-over.ts";
import { Books } from "./books.ts";
import { demand, idOf, newAccount, newId, type RefundStatus } from "./objects.ts";
import { StripeServer, type Fault, type PendingFault, type ProcessedRequest } from "./server.ts";

/** Payments of one session, in the currency's smallest unit. */
export interface PaymentLine {
  readonly session: string;
  /** The session's `client_reference_id`. */
  readonly reference: string | null;
  /** Number of successful charges, and their sum. */
  readonly charges: number;
  readonly charged: number;
  /** Number of refunds that have not failed or been canceled, and their sum. */
  readonly refunds: number;
  readonly refunded: number;
}

/** A URL that receives events. */
export interface WebhookEndpoint {
  readonly url: string;
  /** Signing secret, `whsec_...`. */
  readonly secret: string;
  /**
   * Account whose events it receives. `undefined` for the platform's endpoint, which receives those of all connected
   * accounts.
   */
  readonly account?: string;
}

/** An undelivered event for an endpoint. */
export interface PendingDelivery {
  readonly event: Stripe.EventBase;
  readonly endpoint: WebhookEndpoint;
}

/** Selects events. Default: all. */
export type DeliveryFilter = (delivery: PendingDelivery) => boolean;

/**
 * Simulates Stripe with a server on the loopback address. It stores accounts, sessions, intents, charges, refunds,
 * disputes, events and idempotency keys like Stripe. A service connects with `STRIPE_API_URL=url` and
 * `STRIPE_SECRET_KEY=secretKey`. Objects start as Stripe's samples. It accepts the parameters that the service sends,
 * typed by Stripe's package.
 *
 * ```ts const stripe = await startStripe();                  // ends with its test or file const account =
 * stripe.addAccount();                 // connected, may charge stripe.addWebhook({ url, secret: "whsec_..." });
 * // the platform's: events of connected accounts // ... the service creates a session by POST /v1/checkout/sessions
 * with Stripe-Context: account ... stripe.pay(session.id);                              // actions of people at
 * Stripe are plain methods await stripe.deliverEvents({ times: 3, reversed: true });
 * expect(stripe.payments(account)).toEqual([...]);     // charges and refunds ```
 *
 * The clock is `now`. Sessions expire at the first request after their `expires_at`, or with `expireDue`. All other
 * changes are explicit. Sessions, refunds and disputes are found by id alone, whatever their account.
 */
export class StripeStandIn {
  readonly secretKey: string;
  /**
   * When events are delivered: `held` until `deliverEvents`, `sent` immediately, `first` before the response to the
   * request that caused them. Events without a 2xx response are held.
   */
  delivery: "held" | "sent" | "first" = "held";
  /** Held events, in order. */
  held: PendingDelivery[] = [];

  readonly #accounts = new Map<string, Books>();
  readonly #keys = new Map<string, string>();
  readonly #endpoints: WebhookEndpoint[] = [];
  readonly #sending = new Set<Promise<unknown>>();
  readonly #platform: Books;
  readonly #server: StripeServer;
  readonly #now: () => number;
  readonly #livemode: boolean;

  constructor(now: () => number, livemode: boolean) {
    this.#now = now;
    this.#livemode = livemode;
    this.#platform = this.#open({});
    this.secretKey = this.addKey(this.#platform.account.id);
    this.#server = new StripeServer({
      stamp: () => this.#stamp(),
      keys: this.#keys,
      accounts: this.#accounts,
      platform: this.#platform,
      connect: (params) => this.#open(params),
      beforeResponse: async () => {
        if (this.delivery === "first") await this.whenSent();
      },
    });
  }

  /** `http://127.0.0.1:PORT`, constant. */
  get url(): string {
    return this.#server.url;
  }

  /** Processed requests, in order of completion. */
  get processed(): readonly ProcessedRequest[] {
    return this.#server.processed;
  }

  /** Accepts connections, initially and after `goAway`. */
  async comeBack(): Promise<void> {
    await this.#server.open();
  }

  /** Refuses connections until `comeBack`. Objects are kept. */
  async goAway(): Promise<void> {
    await this.#server.close();
  }

  /** Stops after the deliveries in flight. */
  async stop(): Promise<void> {
    await this.#server.close();
    await this.whenSent();
  }

  /**
   * Plans a failure for the next requests.
   *
   * @param line method and beginning of the path, such as `POST /v1/refunds`
   */
  fault(line: string, fault: Fault, { times = 1 }: { readonly times?: number } = {}): PendingFault {
    return this.#server.fault(line, fault, times);
  }

  /** Adds a connected account that can charge. Returns its id, which can exist in both modes. */
  addAccount(id?: string): string {
    const { account } = this.#open({}, id);
    enable(account);
    return account.id;
  }

  /** Adds a key that belongs to the account. */
  addKey(account: string): string {
    const key = newId(`sk_${this.#livemode ? "live" : "test"}`);
    this.#keys.set(key, account);
    return key;
  }

  revokeKey(key: string): void {
    this.#keys.delete(key);
  }

  /** Completes the account's onboarding or its later requirements. */
  completeOnboarding(account: string): void {
    enable(this.books(account).account);
    this.books(account).accountUpdated();
  }

  /** Adds a requirement, without which the account cannot charge. */
  restrictAccount(account: string): void {
    demand(this.books(account).account, ["individual.verification.document"]);
    this.books(account).accountUpdated();
  }

  /** Revokes the platform's access to the account. */
  deauthorise(account: string): void {
    this.books(account).deauthorise();
  }

  /** Pays a session. @throws Error unless it is open */
  pay(session: string): void {
    this.#booksOf(session).pay(session);
  }

  /** Declines a card for a session, which stays open. */
  failPayment(session: string): void {
    this.#booksOf(session).failPayment(session);
  }

  /** Pays a session with a method that takes days. */
  startProcessing(session: string): void {
    this.#booksOf(session).startProcessing(session);
  }

  completeProcessing(session: string, outcome: "succeeded" | "failed"): void {
    this.#booksOf(session).completeProcessing(session, outcome);
  }

  /** Sets the status of the account's future refunds. Default: `succeeded`. */
  refundsBecome(account: string, status: RefundStatus): void {
    this.books(account).refundsBecome = status;
  }

  completeRefund(refund: string, outcome: "succeeded" | "failed" | "canceled" = "succeeded"): void {
    this.#booksOf(refund).completeRefund(refund, outcome);
  }

  /** Refunds a session's payment as the account's owner. Returns the refund's id. */
  refundByHand(session: string, amount?: number): string {
    const books = this.#booksOf(session);
    const payment_intent = idOf(books.session(session).payment_intent)!;
    return books.createRefund({ payment_intent, ...(amount !== undefined && { amount }) }).id;
  }

  /** Disputes a session's full payment or a part. Returns the dispute's id. */
  openDispute(session: string, { amount }: { readonly amount?: number } = {}): string {
    return this.#booksOf(session).openDispute(session, amount).id;
  }

  /** Opens an inquiry of the bank for a session's full payment. A refund is possible and closes the inquiry. */
  openInquiry(session: string): string {
    return this.#booksOf(session).openInquiry(session).id;
  }

  /** Turns an inquiry into a chargeback. */
  escalate(dispute: string): void {
    this.#booksOf(dispute).escalate(dispute);
  }

  closeDispute(dispute: string, outcome: "won" | "lost"): void {
    this.#booksOf(dispute).closeDispute(dispute, outcome);
  }

  /** Expires sessions after their expiry time. */
  expireDue(): void {
    for (const books of this.#accounts.values()) books.expireDue();
  }

  /** Returns the objects of an account. */
  books(account: string): Books {
    const books = this.#accounts.get(account);
    if (books === undefined) throw new Error(`there is no account ${account}`);
    return books;
  }

  /** Returns charges and refunds per session of an account, oldest first. */
  payments(account: string): PaymentLine[] {
    const { sessions, charges, refunds } = this.books(account);
    return [...sessions.values()].map((session) => {
      const intent = idOf(session.payment_intent);
      const paid = [...charges.values()].filter(
        (charge) => idOf(charge.payment_intent) === intent && charge.status === "succeeded",
      );
      const back = [...refunds.values()].filter(
        ({ payment_intent, status }) =>
          idOf(payment_intent) === intent && status !== "failed" && status !== "canceled",
      );
      return {
        session: session.id,
        reference: session.client_reference_id,
        charges: paid.length,
        charged: paid.reduce((sum, { amount }) => sum + amount, 0),
        refunds: back.length,
        refunded: back.reduce((sum, { amount }) => sum + amount, 0),
      };
    });
  }

  /** Sends future events to a URL. */
  addWebhook(endpoint: WebhookEndpoint): void {
    this.#endpoints.push(endpoint);
  }

  /**
   * Delivers held events one by one. Returns the statuses of the responses, 0 for none. Events without a 2xx response
   * stay held.
   *
   * @param times number of deliveries per event
   * @param reversed whether the newest is delivered first
   */
  async deliverEvents({
    times = 1,
    reversed = false,
    where = () => true,
  }: {
    readonly times?: number;
    readonly reversed?: boolean;
    readonly where?: DeliveryFilter;
  } = {}): Promise<number[]> {
    const wanted = this.#takeHeld(where);
    const statuses: number[] = [];
    for (const delivery of reversed ? wanted.toReversed() : wanted) {
      for (let count = 0; count < times; count++) statuses.push(await this.#send(delivery));
    }
    return statuses;
  }

  /** Drops held events, which are never delivered. Returns their number. */
  dropEvents(where: DeliveryFilter = () => true): number {
    return this.#takeHeld(where).length;
  }

  /** Waits until no delivery is in flight. */
  async whenSent(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending);
  }

  #stamp() {
    return { created: Math.floor(this.#now() / 1000), livemode: this.#livemode };
  }

  #open(params: Stripe.AccountCreateParams, id?: string): Books {
    const account = newAccount(this.#stamp(), params, id);
    const books = new Books(
      account,
      () => this.#stamp(),
      (event) => this.#tell(event, account.id),
    );
    this.#accounts.set(account.id, books);
    return books;
  }

  /** Holds or delivers an event. The platform receives it with the id of the connected account. */
  #tell(event: Stripe.EventBase, account: string): void {
    for (const endpoint of this.#endpoints) {
      const isOwn = endpoint.account === account;
      if (!isOwn && endpoint.account !== undefined) continue;
      const delivery: PendingDelivery = { endpoint, event: isOwn ? event : { ...event, account } };
      if (this.delivery === "held") this.held.push(delivery);
      else {
        const sending = this.#send(delivery).finally(() => this.#sending.delete(sending));
        this.#sending.add(sending);
      }
    }
  }

  async #send(delivery: PendingDelivery): Promise<number> {
    const status = await send(delivery, this.#stamp().created);
    const isTaken = status >= 200 && status < 300;
    if (!isTaken && !this.held.includes(delivery)) this.held.push(delivery);
    return status;
  }

  #takeHeld(where: DeliveryFilter): PendingDelivery[] {
    const wanted = this.held.filter((delivery) => where(delivery));
    this.held = this.held.filter((delivery) => !wanted.includes(delivery));
    return wanted;
  }

  /** Returns the books that contain an id. */
  #booksOf(id: string): Books {
    for (const books of this.#accounts.values()) {
      const { sessions, refunds, disputes } = books;
      if ([sessions, refunds, disputes].some((objects) => objects.has(id))) return books;
    }
    throw new Error(`there is no ${id}`);
  }
}

/** Removes all requirements, so that the account can charge. */
function enable(account: Stripe.Account): void {
  account.details_submitted = true;
  demand(account, []);
}

/** Delivers an event like Stripe, signed at this time. Returns the status, or 0 without a response. */
async function send({ event, endpoint }: PendingDelivery, timestamp: number): Promise<number> {
  const payload = JSON.stringify(event, null, 2);
  const { url, secret } = endpoint;
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json; charset=utf-8", "stripe-signature": signature },
      body: payload,
      redirect: "manual",
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

/**
 * Starts a Stripe simulation, which stops with the current test or file.
 *
 * @param now current time, in milliseconds since the epoch
 * @param livemode whether keys and objects belong to live mode
 */
export async function startStripe({
  now = Date.now,
  livemode = false,
}: {
  readonly now?: () => number;
  readonly livemode?: boolean;
} = {}): Promise<StripeStandIn> {
  const stripe = new StripeStandIn(now, livemode);
  await stripe.comeBack();
  whenOver(() => stripe.stop());
  return stripe;
}
