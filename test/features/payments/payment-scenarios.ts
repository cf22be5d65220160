import { data } from "../../support/answers.ts";
import { book, BOOKING, PAYMENT, type ShipmentJson } from "../../support/bookings.ts";
import type { Answer } from "../../support/client.ts";
import {
  connectStripe,
  eventTypes,
  getShipment,
  PAGE_URLS,
  type ConnectedWorkspace,
  type StripeService,
} from "../../support/stripe-service.ts";
import { idOf, type RefundStatus } from "../../stripe/objects.ts";
import type { Fault, PendingFault } from "../../stripe/server.ts";

/** Actions by name. Each receives the words that follow its name. */
type Acts = Readonly<Record<string, (...words: string[]) => unknown>>;

/** A shipment on which tests perform actions such as `pay; refundByHand 269; deliver`. */
export interface PaymentScenario {
  readonly reference: string;
  /** Performs actions in order. Skips those that are currently impossible. */
  act(acts: string): Promise<void>;
  /**
   * Returns what changed since the last call: payment status and details, whether the shipment is
   * listed as failed, the amounts of its checkout pages, new events, and responses to callers.
   */
  outcome(): Promise<string>;
  /** State of the shipment at Stripe. */
  readonly atStripe: ReturnType<typeof atStripe>;
}

/** Books a shipment in a workspace connected to Stripe. */
export async function startScenario(
  setup: StripeService,
  workspace: ConnectedWorkspace,
  work: () => Promise<void>,
): Promise<PaymentScenario> {
  const { service } = setup;
  const { apiKey, id } = workspace;
  const { reference } = await book(service, apiKey);
  const accounts = [workspace.account];
  const at = atStripe(setup.stripe, accounts, reference);
  const answers: string[] = [];
  let reported = 1;
  const acts: Acts = {
    ...callsOf(setup, { apiKey, id, accounts }, reference, (text) => answers.push(text)),
    ...actsAtStripe(setup.stripe, accounts, at),
    work,
    wait: async (minutes) => {
      setup.clock.ms += Number(minutes) * 60_000 + UNEVEN_MS;
      setup.stripe.expireDue();
      await work();
    },
  };
  return {
    reference,
    atStripe: at,
    async act(text) {
      for (const step of text.split("; ")) {
        const [name = "", ...words] = step.split(" ");
        const act = acts[name];
        if (act === undefined) throw new Error(`unknown action ${name}`);
        await act(...words);
      }
    },
    async outcome() {
      const shipment = await getShipment(service, apiKey, reference);
      const failed: ShipmentJson[] = await data(service.as(apiKey).listShipments({ failed: true }));
      const isFailed = failed.some((one) => one["reference"] === reference);
      const events = (await eventTypes(service, apiKey, reference)).slice(reported);
      reported += events.length;
      return [
        shipment["payment_status"],
        ...detailsOf(shipment["payment_details"]),
        ...(isFailed ? ["failed"] : []),
        ...at.sessions().map(at.summary),
        ...(events.length > 0 ? [`events ${events.join(" ")}`] : []),
        ...answers.splice(0),
      ].join("; ");
    },
  };
}

/** Returns the payment details without the status. Replaces names in texts, because they vary. */
function detailsOf(details: object | null): string[] {
  return Object.entries(details ?? {}).flatMap(([name, value]) => {
    if (name === "checkout_expires_at" || !value) return [];
    if (name === "checkout_url") return ["page"];
    return value === true ? [name] : [`${name} ${String(value).replaceAll(/'[^']+'/g, "…")}`];
  });
}

/**
 * Offset from whole minutes, in milliseconds. Distinguishes an account that is due in two minutes
 * from one that the service has leased for two minutes.
 */
export const UNEVEN_MS = 1;

const WAITS =
  /^The payment (provider does not respond|is changing at the payment provider|is being checked)\. Try again in a moment\.$/;

/** Returns the actions that call the service. */
function callsOf(
  { service, stripe }: StripeService,
  { apiKey, id, accounts }: { apiKey: string; id: number; accounts: string[] },
  shipment: string,
  tell: (text: string) => void,
): Acts {
  const client = service.as(apiKey);
  const ask = async (call: Promise<Answer>) => {
    const { code, body } = await call;
    // Which of the messages is sent depends on timing: the provider may not respond, or another
    // worker may hold the lease.
    if (WAITS.test(body.message)) tell("refused: try again in a moment");
    else if (code !== undefined) tell(`refused: ${body.message.replaceAll(/'[^']+'/g, "…")}`);
    if (body.payment) tell(`recorded by ${body.payment.provider === "stripe" ? "stripe" : "hand"}`);
  };
  return {
    checkout: () => ask(client.createCheckout({ shipment, ...PAGE_URLS })),
    record: () => ask(client.recordPayment({ shipment, ...PAYMENT })),
    recordRefund: () => ask(client.recordRefund({ shipment })),
    retry: () => ask(client.retryRefund({ shipment })),
    accept: () => ask(client.acceptUncountedPayment({ shipment })),
    cancel: () => ask(client.cancelShipment({ shipment })),
    reprice: (kg) => ask(client.updateShipment({ shipment, weight_kg: Number(kg) })),
    book: () => ask(client.createShipment(BOOKING)),
    disconnect: () => ask(client.disconnectPaymentConnection()),
    connect: async () => {
      const account = await connectStripe(service, stripe, apiKey);
      if (!accounts.includes(account)) accounts.push(account);
    },
    connectManual: async () => {
      const operator = service.as((await service.addOperator()).key);
      const provider = { workspace: id, payment_provider: "manual" };
      await ask(operator.connectPaymentProvider(provider));
    },
    // Restores the platform's access to the workspace's account.
    restoreAccess: () => {
      stripe.books(accounts[0]!).authorised = true;
      stripe.dropEvents();
      return ask(client.checkPaymentConnection());
    },
  };
}

/** Returns the actions of customers, banks, account owners and the network. */
function actsAtStripe(
  stripe: StripeService["stripe"],
  accounts: readonly string[],
  { sessions, open, paid, processing, refunds, disputes, remainingAmount }: ReturnType<typeof atStripe>,
): Acts {
  const isDisputed = () => disputes().some(({ status }) => status === "needs_response");
  const faults: PendingFault[] = [];
  return {
    pay: () => open() && stripe.pay(open()!.id),
    decline: () => open() && stripe.failPayment(open()!.id),
    process: () => open() && stripe.startProcessing(open()!.id),
    completeProcessing: (outcome) => {
      for (const { id } of processing()) {
        stripe.completeProcessing(id, outcome as "succeeded" | "failed");
      }
    },
    expire: () => open() && stripe.books(accounts.at(-1)!).expireSession(open()!.id),
    /** Changes a checkout, so that its amount or shipment differs from the request. */
    spoil: (name, value, currency) => {
      const session = open()!;
      if (name === "shipment") session.metadata!["shipment"] = value!;
      else Object.assign(session, { amount_total: Number(value), ...(currency && { currency }) });
    },
    refundByHand: (amount) => {
      const left = isDisputed() ? 0 : remainingAmount(paid());
      if (left > 0) stripe.refundByHand(paid()!.id, Math.min(left, Number(amount ?? left)));
    },
    refundsBecome: (status) => stripe.refundsBecome(accounts[0]!, status as RefundStatus),
    completeRefunds: (outcome) => {
      for (const { id, status } of refunds()) {
        const isWaiting = status === "pending" || status === "requires_action";
        if (isWaiting) stripe.completeRefund(id, outcome as "succeeded" | "failed");
      }
    },
    /** Makes a successful refund fail: the first or the last one. */
    reverseRefund: (which) => {
      const { id } = refunds().at(which === "last" ? -1 : 0)!;
      stripe.completeRefund(id, "failed");
    },
    dispute: (amount) => {
      if (paid() === undefined || isDisputed()) return;
      stripe.openDispute(paid()!.id, amount === undefined ? {} : { amount: Number(amount) });
    },
    /** Opens a bank inquiry, which moves no money. */
    inquire: () => stripe.openInquiry(paid()!.id),
    /** Turns the last inquiry into a chargeback. */
    escalate: () => stripe.escalate(disputes().at(-1)!.id),
    closeDispute: (outcome) => {
      for (const { id, status } of disputes()) {
        if (status === "needs_response") stripe.closeDispute(id, outcome as "won" | "lost");
      }
    },
    /** Makes the last page payable again. */
    reopen: () => {
      const session = sessions().at(-1)!;
      session.status = "open";
      session.expires_at += 30 * 24 * 60 * 60;
    },
    /** Turns a lost dispute into a won one, which returns the money. */
    reverseDispute: () => Object.assign(disputes().at(-1)!, { status: "won" }),
    revokeAccess: () => {
      stripe.deauthorise(accounts.at(-1)!);
      return stripe.deliverEvents();
    },
    restrict: () => {
      stripe.restrictAccount(accounts.at(-1)!);
      stripe.dropEvents();
    },
    goAway: () => stripe.goAway(),
    comeBack: () => stripe.comeBack(),
    events: (when) => Object.assign(stripe, { delivery: when }),
    deliver: (times = "1", order?: string) =>
      stripe.deliverEvents({ times: Number(times), reversed: order === "reversed" }),
    drop: () => stripe.dropEvents(),
    fault: (fault, ...line) => faults.push(stripe.fault(line.join(" "), fault as Fault)),
    /** Removes all failures. */
    mend: () => {
      for (const fault of faults.splice(0)) fault.release();
    },
  };
}

/** Returns the state of a shipment at Stripe. */
function atStripe(stripe: StripeService["stripe"], accounts: readonly string[], reference: string) {
  const books = () => accounts.map((account) => stripe.books(account));
  const sessions = () =>
    books()
      .flatMap((it) => [...it.sessions.values()])
      .filter((session) => session.client_reference_id === reference);
  type Session = ReturnType<typeof sessions>[number];
  const intentOf = (session: Session | undefined) =>
    books()
      .flatMap((it) => [...it.intents.values()])
      .find(({ id }) => id === idOf(session?.payment_intent ?? null));
  const chargeOf = (session: Session | undefined) =>
    books()
      .flatMap((it) => [...it.charges.values()])
      .find(({ id }) => id === idOf(intentOf(session)?.latest_charge ?? null));
  const ofShipment = <T extends { payment_intent: string | { id: string } | null }>(all: T[]) => {
    const intents = new Set(sessions().map((session) => intentOf(session)?.id));
    return all.filter(({ payment_intent }) => intents.has(idOf(payment_intent)));
  };
  const refunds = () => ofShipment(books().flatMap((it) => [...it.refunds.values()]));
  const disputes = () => ofShipment(books().flatMap((it) => [...it.disputes.values()]));
  const lost = () => disputes().filter(({ status }) => status === "lost");
  const lostMinor = () => lost().reduce((sum, { amount }) => sum + amount, 0);
  return {
    sessions,
    refunds,
    disputes,
    lostMinor,
    open: () => sessions().find(({ status }) => status === "open"),
    paid: () => sessions().find(({ payment_status }) => payment_status === "paid"),
    processing: () => sessions().filter((one) => intentOf(one)?.status === "processing"),
    /** Returns the remaining amount of a payment in minor units. */
    remainingAmount: (session: Session | undefined) => {
      const charge = chargeOf(session);
      return charge ? charge.amount - charge.amount_refunded - lostMinor() : 0;
    },
    /**
     * Summarizes a page as `complete 1269 -269 failed`: its status, the amount paid, and each refund with its status.
     */
    summary: (session: Session): string => {
      const charge = chargeOf(session);
      const back = refunds().filter((refund) => idOf(refund.charge) === charge?.id);
      return [
        session.status,
        ...(charge?.status === "succeeded" ? [charge.amount] : []),
        ...back.map(({ amount, status }) => `-${amount}${status === "succeeded" ? "" : ` ${status}`}`),
      ].join(" ");
    },
  };
}
