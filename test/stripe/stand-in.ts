import { Stripe } from "stripe";
import { whenOver } from "../support/when-over.ts";
import { Books } from "./books.ts";
import { demand, idOf, newAccount, newId, type RefundStatus } from "./objects.ts";
import { StripeServer, type Fault, type PendingFault, type ProcessedRequest } from "./server.ts";

/** Charges and refunds of one session, in the currency's smallest unit. */
export interface PaymentLine {
  readonly session: string;
  /** The session's `client_reference_id`. */
  readonly reference: string | null;
  /** Number and sum of the successful charges. */
  readonly charges: number;
  readonly charged: number;
  /** Number and sum of the refunds that have neither failed nor been canceled. */
  readonly refunds: number;
  readonly refunded: number;
}

/** A webhook endpoint that receives events. */
export interface WebhookEndpoint {
  readonly url: string;
  /** Signing secret, `whsec_...`. */
  readonly secret: string;
  /**
   * Account whose events the endpoint receives. `undefined` for the platform's endpoint, which
   * receives the events of all connected accounts.
   */
  readonly account?: string;
}

/** An event to be delivered to an endpoint. */
export interface PendingDelivery {
  readonly event: Stripe.EventBase;
  readonly endpoint: WebhookEndpoint;
}

/** Selects deliveries. Matches all by default. */
export type DeliveryFilter = (delivery: PendingDelivery) => boolean;

/**
 * Simulates Stripe with a server on the loopback address. It stores accounts, sessions, intents,
 * charges, refunds, disputes, events and idempotency keys as Stripe does. New objects start as
 * copies of Stripe's samples. The server accepts only the parameters that the service sends, typed
 * by Stripe's package. A service connects with `STRIPE_API_URL=url` and
 * `STRIPE_SECRET_KEY=secretKey`.
 *
 * ```ts
 * const stripe = await startStripe();
 * const account = stripe.addAccount();
 * stripe.addWebhook({ url, secret: "whsec_..." });
 * // The service creates a session for the account.
 * stripe.pay(session.id);
 * await stripe.deliverEvents({ times: 3, reversed: true });
 * expect(stripe.payments(account)).toEqual([...]);
 * ```
 *
 * The clock is `now`. Sessions expire at the first request after their `expires_at`, or with
 * `expireDue`. All other changes need an explicit call. Sessions, refunds and disputes are found by
 * id in all accounts.
 */
export class StripeStandIn {
  readonly secretKey: string;
  /**
   * When events are delivered: `held` until `deliverEvents`, `sent` immediately, or `first`, before
   * the response to the request that caused them. Events that get no 2xx response are held.
   */
  delivery: "held" | "sent" | "first" = "held";
  /** Held deliveries, in order. */
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

  /** URL of the server, `http://127.0.0.1:PORT`. It never changes. */
  get url(): string {
    return this.#server.url;
  }

  /** Processed requests, in order of completion. */
  get processed(): readonly ProcessedRequest[] {
    return this.#server.processed;
  }

  /** Accepts connections, initially and again after `goAway`. */
  async comeBack(): Promise<void> {
    await this.#server.open();
  }

  /** Refuses connections until `comeBack`. Objects are kept. */
  async goAway(): Promise<void> {
    await this.#server.close();
  }

  /** Stops the server after the deliveries in flight have completed. */
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

  /** Adds a connected account that can charge. Returns its id. The same id can exist in both modes. */
  addAccount(id?: string): string {
    const { account } = this.#open({}, id);
    enable(account);
    return account.id;
  }

  addKey(account: string): string {
    const key = newId(`sk_${this.#livemode ? "live" : "test"}`);
    this.#keys.set(key, account);
    return key;
  }

  revokeKey(key: string): void {
    this.#keys.delete(key);
  }

  /** Completes the account's onboarding, or meets requirements that were added later. */
  completeOnboarding(account: string): void {
    enable(this.books(account).account);
    this.books(account).accountUpdated();
  }

  /** Adds a requirement that blocks charges until it is met. */
  restrictAccount(account: string): void {
    demand(this.books(account).account, ["individual.verification.document"]);
    this.books(account).accountUpdated();
  }

  /** Revokes the platform's access to the account. */
  deauthorise(account: string): void {
    this.books(account).deauthorise();
  }

  /** Pays an open session. @throws Error if the session is not open */
  pay(session: string): void {
    this.#booksOf(session).pay(session);
  }

  /** Declines a card for a session, which stays open. */
  failPayment(session: string): void {
    this.#booksOf(session).failPayment(session);
  }

  /** Starts the payment of a session with a method that takes days. */
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

  /**
   * Refunds a session's payment, fully by default, as the account's owner does in Stripe. Returns the refund's id.
   */
  refundByHand(session: string, amount?: number): string {
    const books = this.#booksOf(session);
    const payment_intent = idOf(books.session(session).payment_intent)!;
    return books.createRefund({ payment_intent, ...(amount !== undefined && { amount }) }).id;
  }

  /** Disputes a session's payment fully or partly. Returns the dispute's id. */
  openDispute(session: string, { amount }: { readonly amount?: number } = {}): string {
    return this.#booksOf(session).openDispute(session, amount).id;
  }

  /** Opens a bank inquiry about a session's full payment. A refund is possible and closes the inquiry. */
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

  /** Expires the sessions whose expiry time has passed. */
  expireDue(): void {
    for (const books of this.#accounts.values()) books.expireDue();
  }

  books(account: string): Books {
    const books = this.#accounts.get(account);
    if (books === undefined) throw new Error(`there is no account ${account}`);
    return books;
  }

  /** Returns an account's charges and refunds per session, oldest session first. */
  payments(account: string): PaymentLine[] {
    const { sessions, charges, refunds } = this.books(account);
    return [...sessions.values()].map((session) => {
      const intent = idOf(session.payment_intent);
      const paid = [...charges.values()].filter(
        (charge) => idOf(charge.payment_intent) === intent && charge.status === "succeeded",
      );
      const back = [...refunds.values()].filter(
        ({ payment_intent, status }) => idOf(payment_intent) === intent && status !== "failed" && status !== "canceled",
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

  /** Sends future events to an endpoint. */
  addWebhook(endpoint: WebhookEndpoint): void {
    this.#endpoints.push(endpoint);
  }

  /**
   * Delivers the held events one by one. Returns the response statuses, 0 without a response.
   * Events that get no 2xx response stay held.
   *
   * @param times number of deliveries per event
   * @param reversed whether to deliver the newest event first
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
    const deliveries = this.#takeHeld(where);
    const statuses: number[] = [];
    for (const delivery of reversed ? deliveries.toReversed() : deliveries) {
      for (let count = 0; count < times; count++) statuses.push(await this.#send(delivery));
    }
    return statuses;
  }

  /** Drops held deliveries and returns their number. */
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

  /** Holds or delivers an event. The platform's endpoint receives it with the connected account's id. */
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
    const deliveries = this.held.filter((delivery) => where(delivery));
    this.held = this.held.filter((delivery) => !deliveries.includes(delivery));
    return deliveries;
  }

  /** Returns the books of the account that has an object with this id. */
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

/** Delivers an event signed as Stripe does, with this time. Returns the status, or 0 without a response. */
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
 * @param now returns the current time, in milliseconds since the epoch
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
