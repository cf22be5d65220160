import { Stripe } from "stripe";
import { whenOver } from "../support/when-over.ts";
import { Books } from "./books.ts";
import { demand, idOf, newAccount, newId, type RefundStatus } from "./objects.ts";
import { StripeServer, type Fault, type PendingFault, type Taken } from "./server.ts";

/** What was paid for one session, in the currency's smallest unit. */
export interface PaymentLine {
  readonly session: string;
  /** The session's `client_reference_id`. */
  readonly reference: string | null;
  /** How many charges succeeded, and their sum. */
  readonly charges: number;
  readonly charged: number;
  /** How many refunds have not failed or been canceled, and their sum. */
  readonly refunds: number;
  readonly refunded: number;
}

/** An address that is told of events. */
export interface WebhookEndpoint {
  readonly url: string;
  /** `whsec_...`; the notices are signed with it. */
  readonly secret: string;
  /**
   * Whose events it is told of: an account's id for its own; undefined for the platform's, which is
   * told of those of all connected accounts.
   */
  readonly account?: string;
}

/** An event that an endpoint has not taken yet. */
export interface Notice {
  readonly event: Stripe.EventBase;
  readonly endpoint: WebhookEndpoint;
}

/** Which notices are meant; all unless said otherwise. */
export type WhichNotices = (notice: Notice) => boolean;

/**
 * Stripe without a network: a server on the loopback address that keeps accounts, sessions, intents,
 * charges, refunds, disputes, events and idempotency keys as Stripe does. A service reaches it by
 * `STRIPE_API_URL=url` and `STRIPE_SECRET_KEY=secretKey`. Its objects are Stripe's samples, and
 * what it takes are the parameters that the service sends, both of the types of Stripe's package.
 *
 * ```ts
 * const stripe = await startStripe();                  // ends with its test or file
 * const account = stripe.addAccount();                 // connected, may charge
 * stripe.addWebhook({ url, secret: "whsec_..." });     // the platform's: events of connected accounts
 * // ... the service makes a session by POST /v1/checkout/sessions with Stripe-Context: account ...
 * stripe.pay(session.id);                              // what people do at Stripe are plain methods
 * await stripe.deliverNotices({ times: 3, reversed: true });
 * expect(stripe.payments(account)).toEqual([...]);     // what was charged and refunded
 * ```
 *
 * Time is what `now` says: sessions expire when it has passed their `expires_at`, seen at the next
 * request or by `settleDue`. Everything else waits to be told. Sessions, refunds and disputes are
 * named by their ids alone, whatever account they are of.
 */
export class StripeStandIn {
  readonly secretKey: string;
  /**
   * When notices go out: `held` until `deliverNotices`; `sent` as things happen; `first` as things
   * happen, each taken before the request that caused it is answered. What an endpoint does not take
   * with a 2xx is held.
   */
  notices: "held" | "sent" | "first" = "held";
  /** What is held, in the order in which it happened. */
  held: Notice[] = [];

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
      beforeAnswer: async () => {
        if (this.notices === "first") await this.whenSent();
      },
    });
  }

  /** `http://127.0.0.1:PORT`, the same from start to end. */
  get url(): string {
    return this.#server.url;
  }

  /** The requests that were taken, in the order in which they ended. */
  get taken(): readonly Taken[] {
    return this.#server.taken;
  }

  /** Takes requests, at first and after `goAway`. */
  async comeBack(): Promise<void> {
    await this.#server.open();
  }

  /** Refuses connections until `comeBack`; what was done stays. */
  async goAway(): Promise<void> {
    await this.#server.close();
  }

  /** Ends, once the notices that are under way have ended. */
  async stop(): Promise<void> {
    await this.#server.close();
    await this.whenSent();
  }

  /**
   * Lets the next requests meet a fault.
   *
   * @param line method and beginning of the path, such as `POST /v1/refunds`
   */
  fault(line: string, fault: Fault, { times = 1 }: { readonly times?: number } = {}): PendingFault {
    return this.#server.fault(line, fault, times);
  }

  /** An account that is connected with the platform and may charge; gives its id, which both modes may have. */
  addAccount(id?: string): string {
    const { account } = this.#open({}, id);
    enable(account);
    return account.id;
  }

  /** A key of an account's own. */
  addKey(account: string): string {
    const key = newId(`sk_${this.#livemode ? "live" : "test"}`);
    this.#keys.set(key, account);
    return key;
  }

  revokeKey(key: string): void {
    this.#keys.delete(key);
  }

  /** The account has told everything on its onboarding page, or what was wanted of it again. */
  completeOnboarding(account: string): void {
    enable(this.books(account).account);
    this.books(account).accountUpdated();
  }

  /** Something is wanted of the account, which may not charge until then. */
  restrictAccount(account: string): void {
    demand(this.books(account).account, ["individual.verification.document"]);
    this.books(account).accountUpdated();
  }

  /** The account's owner ends what the platform may do for it. */
  deauthorise(account: string): void {
    this.books(account).deauthorise();
  }

  /** Somebody pays on a session's page. @throws Error unless it is open */
  pay(session: string): void {
    this.#booksOf(session).pay(session);
  }

  /** Somebody's card is declined on a session's page, which stays open. */
  failPayment(session: string): void {
    this.#booksOf(session).failPayment(session);
  }

  /** Somebody pays by a method that takes days. */
  startProcessing(session: string): void {
    this.#booksOf(session).startProcessing(session);
  }

  settleProcessing(session: string, outcome: "succeeded" | "failed"): void {
    this.#booksOf(session).settleProcessing(session, outcome);
  }

  /** What becomes of the account's refunds that are asked for from now on; `succeeded` at first. */
  refundsBecome(account: string, status: RefundStatus): void {
    this.books(account).refundsBecome = status;
  }

  settleRefund(refund: string, outcome: "succeeded" | "failed" | "canceled" = "succeeded"): void {
    this.#booksOf(refund).settleRefund(refund, outcome);
  }

  /** The account's owner refunds a session's payment at Stripe; gives the refund's id. */
  refundByHand(session: string, amount?: number): string {
    const books = this.#booksOf(session);
    const payment_intent = idOf(books.session(session).payment_intent)!;
    return books.createRefund({ payment_intent, ...(amount !== undefined && { amount }) }).id;
  }

  /** A card's holder disputes all of a session's payment, or a part; gives the dispute's id. */
  openDispute(session: string, { amount }: { readonly amount?: number } = {}): string {
    return this.#booksOf(session).openDispute(session, amount).id;
  }

  /** The bank asks about all of a session's payment. It can still be refunded, which closes the inquiry. */
  openInquiry(session: string): string {
    return this.#booksOf(session).openInquiry(session).id;
  }

  /** An inquiry becomes a chargeback. */
  escalate(dispute: string): void {
    this.#booksOf(dispute).escalate(dispute);
  }

  closeDispute(dispute: string, outcome: "won" | "lost"): void {
    this.#booksOf(dispute).closeDispute(dispute, outcome);
  }

  /** Expires the sessions whose time has passed. */
  settleDue(): void {
    for (const books of this.#accounts.values()) books.settleDue();
  }

  /** What an account has, to be looked at. */
  books(account: string): Books {
    const books = this.#accounts.get(account);
    if (books === undefined) throw new Error(`there is no account ${account}`);
    return books;
  }

  /** What was charged and refunded for each session of an account, oldest first. */
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

  /** Tells an address of what happens from now on. */
  addWebhook(endpoint: WebhookEndpoint): void {
    this.#endpoints.push(endpoint);
  }

  /**
   * Sends what is held, one after another, and gives the statuses of the answers, 0 for none. What is
   * not taken with a 2xx stays held.
   *
   * @param times how often each is sent
   * @param reversed whether the newest goes first
   */
  async deliverNotices({
    times = 1,
    reversed = false,
    where = () => true,
  }: {
    readonly times?: number;
    readonly reversed?: boolean;
    readonly where?: WhichNotices;
  } = {}): Promise<number[]> {
    const wanted = this.#takeHeld(where);
    const statuses: number[] = [];
    for (const notice of reversed ? wanted.toReversed() : wanted) {
      for (let count = 0; count < times; count++) statuses.push(await this.#send(notice));
    }
    return statuses;
  }

  /** Forgets what is held: nobody is ever told of it; gives how much it was. */
  dropNotices(where: WhichNotices = () => true): number {
    return this.#takeHeld(where).length;
  }

  /** Waits until no notice is under way. */
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

  /** Holds or sends the notices of an event: of a connected account, with its name, to the platform. */
  #tell(event: Stripe.EventBase, account: string): void {
    for (const endpoint of this.#endpoints) {
      const isOwn = endpoint.account === account;
      if (!isOwn && endpoint.account !== undefined) continue;
      const notice: Notice = { endpoint, event: isOwn ? event : { ...event, account } };
      if (this.notices === "held") this.held.push(notice);
      else {
        const sending = this.#send(notice).finally(() => this.#sending.delete(sending));
        this.#sending.add(sending);
      }
    }
  }

  async #send(notice: Notice): Promise<number> {
    const status = await send(notice, this.#stamp().created);
    const isTaken = status >= 200 && status < 300;
    if (!isTaken && !this.held.includes(notice)) this.held.push(notice);
    return status;
  }

  #takeHeld(where: WhichNotices): Notice[] {
    const wanted = this.held.filter((notice) => where(notice));
    this.held = this.held.filter((notice) => !wanted.includes(notice));
    return wanted;
  }

  /** The books that hold what has this id. */
  #booksOf(id: string): Books {
    for (const books of this.#accounts.values()) {
      const { sessions, refunds, disputes } = books;
      if ([sessions, refunds, disputes].some((objects) => objects.has(id))) return books;
    }
    throw new Error(`there is no ${id}`);
  }
}

/** Everything is told: the account may charge. */
function enable(account: Stripe.Account): void {
  account.details_submitted = true;
  demand(account, []);
}

/** Sends a notice as Stripe does, signed at this time; gives the status, or 0 without an answer. */
async function send({ event, endpoint }: Notice, timestamp: number): Promise<number> {
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
 * Starts a stand-in for Stripe, which ends with the running test or file.
 *
 * @param now the time, in milliseconds since 1970
 * @param livemode whether its keys and objects are those of live mode
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
