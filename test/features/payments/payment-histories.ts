import fc from "fast-check";
import { expect } from "vitest";
import { takeStep, book } from "../../support/bookings.ts";
import {
  askCheckout,
  getShipment,
  type ConnectedWorkspace,
  type StripeService,
} from "../../support/stripe-service.ts";
import { createPaymentWorker } from "./payment-worker.ts";
import type { Fault, PendingFault } from "../../stripe/faults.ts";
import { idOf, type RefundStatus } from "../../stripe/objects.ts";

/** Something that a caller, a customer, an account's owner, a bank or the network does. */
type Act =
  | { readonly act: "checkout" | "pay" | "decline" | "process" | "cancel" | "expire" }
  | { readonly act: "retry" | "record" | "work" | "drop" }
  | { readonly act: "settle" | "settleRefunds" | "closeDispute"; readonly well: boolean }
  | { readonly act: "refundByHand" | "dispute"; readonly percent: number }
  | { readonly act: "refundsBecome"; readonly status: RefundStatus }
  | { readonly act: "reprice"; readonly weightKg: number }
  | { readonly act: "deliver"; readonly times: number; readonly reversed: boolean }
  | { readonly act: "wait"; readonly minutes: number }
  | { readonly act: "fault"; readonly line: string; readonly fault: Fault };

const plain = fc.constantFrom(
  ...(["checkout", "pay", "decline", "process", "cancel", "expire"] as const),
  ...(["retry", "record", "work", "drop"] as const),
);

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ act: plain }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom("settle", "settleRefunds", "closeDispute"),
      well: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom("refundByHand", "dispute"),
      percent: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(100)),
    }),
  },
  fc.record({
    act: fc.constant("refundsBecome"),
    status: fc.constantFrom("pending", "requires_action", "succeeded", "failed", "canceled"),
  }),
  fc.record({ act: fc.constant("reprice"), weightKg: fc.constantFrom(1, 2.5, 5) }),
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant("deliver"),
      times: fc.integer({ min: 1, max: 3 }),
      reversed: fc.boolean(),
    }),
  },
  fc.record({ act: fc.constant("wait"), minutes: fc.constantFrom(1, 10, 60, 1440) }),
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant("fault"),
      line: fc.constantFrom(
        "POST /v1/checkout/sessions",
        "GET /v1/checkout/sessions",
        "GET /v1/payment_intents",
        "POST /v1/refunds",
        "GET /v1/refunds",
      ),
      fault: fc.constantFrom("cut", "rateLimited", "failed"),
    }),
  },
) as fc.Arbitrary<Act>;

/** How histories begin: with a page to pay at, and most of them with more. */
const beginnings: readonly (readonly Act[])[] = [
  [],
  [{ act: "pay" }],
  [{ act: "process" }],
  [{ act: "pay" }, { act: "record" }, { act: "cancel" }],
  [{ act: "cancel" }, { act: "pay" }],
  [{ act: "pay" }, { act: "dispute", percent: 30 }, { act: "closeDispute", well: false }],
];

/** Histories of one shipment. */
const histories: fc.Arbitrary<Act[]> = fc
  .tuple(fc.constantFrom(...beginnings), fc.array(act, { minLength: 2, maxLength: 14 }))
  .map(([beginning, acts]) => [{ act: "checkout" }, ...beginning, ...acts]);

/** How often a refund that failed is tried again at the end. */
const MAX_ROUNDS = 4;

/** What is known of a shipment's money on both sides, once all has come to rest. */
interface Rest {
  readonly status: string;
  readonly paymentStatus: string;
  readonly totalMinor: number;
  readonly refundedMinor: number;
  readonly disputedMinor: number;
  readonly charges: number;
  readonly chargedMinor: number;
  readonly refundedAtStripeMinor: number;
  /** What disputes that were lost are of. */
  readonly lostAtStripeMinor: number;
  /** Refunds that the service asked for, and that have not failed. */
  readonly ownRefunds: number;
}

/**
 * Lives through so many random histories, each of a shipment of its own, and has the test fail with the
 * shortest one that it finds after which money at Stripe and here do not agree. A seed gives the same ones.
 */
export async function assertHistories(
  setup: StripeService,
  options: Pick<fc.Parameters, "numRuns" | "seed" | "interruptAfterTimeLimit">,
): Promise<void> {
  const run = createHistoryRunner(setup, await setup.connect(), createPaymentWorker(setup));
  const property = fc.asyncProperty(histories, async (history) => assertAgrees(await run(history)));
  await fc.assert(property, options);
}

/** Builds what lives through a history with a shipment of its own, and tells what it comes to. */
function createHistoryRunner(
  { service, stripe, clock }: StripeService,
  { apiKey, account }: ConnectedWorkspace,
  work: () => Promise<void>,
): (history: readonly Act[]) => Promise<Rest> {
  const books = stripe.books(account);

  return async (history) => {
    const { reference } = await book(service, apiKey);
    const faults: PendingFault[] = [];
    const post = (path: string) =>
      service.request(`/v1/shipments/${reference}${path}`, { apiKey, body: {} });
    // Whatever is new belongs to this shipment.
    const [sessionsBefore, refundsBefore, disputesBefore] = [
      books.sessions.size,
      books.refunds.size,
      books.disputes.size,
    ];
    const sessions = () => [...books.sessions.values()].slice(sessionsBefore);
    const refunds = () => [...books.refunds.values()].slice(refundsBefore);
    const disputes = () => [...books.disputes.values()].slice(disputesBefore);
    const open = () => sessions().find(({ status }) => status === "open")?.id;
    const isWaiting = (status: string | null) =>
      status === "pending" || status === "requires_action";
    const paid = () => sessions().find(({ payment_status }) => payment_status === "paid");
    const settle = (well: boolean) => {
      for (const { id, payment_intent } of sessions()) {
        const intent = books.intents.get(idOf(payment_intent) ?? "");
        if (intent?.status === "processing")
          stripe.settleProcessing(id, well ? "succeeded" : "failed");
      }
    };
    const settleRefunds = (well: boolean) => {
      for (const { id, status } of refunds()) {
        if (isWaiting(status)) stripe.settleRefund(id, well ? "succeeded" : "failed");
      }
    };
    const isOpen = ({ status }: { readonly status: string }) => status === "needs_response";
    const isDisputed = () => disputes().some(isOpen);
    const closeDisputes = (won: boolean) => {
      for (const { id } of disputes().filter(isOpen)) {
        stripe.closeDispute(id, won ? "won" : "lost");
      }
    };
    const lostMinor = () =>
      disputes().reduce((sum, { status, amount }) => sum + (status === "lost" ? amount : 0), 0);

    /** Does what can be done now, and passes over what cannot. */
    async function live(step: Act): Promise<void> {
      const session = open();
      const charge =
        paid() &&
        books.charges.get(idOf(books.intent(idOf(paid()!.payment_intent)!).latest_charge) ?? "");
      switch (step.act) {
        case "checkout":
          await askCheckout(service, apiKey, reference);
          return;
        case "pay":
          if (session !== undefined) stripe.pay(session);
          return;
        case "decline":
          if (session !== undefined) stripe.failPayment(session);
          return;
        case "process":
          if (session !== undefined) stripe.startProcessing(session);
          return;
        case "expire":
          if (session !== undefined) books.expireSession(session);
          return;
        case "settle":
          settle(step.well);
          return;
        case "cancel":
          await takeStep(service, apiKey, reference, "cancel");
          return;
        case "record":
          await takeStep(service, apiKey, reference, "pay");
          return;
        case "retry":
          await post("/refunds/retry");
          return;
        case "reprice":
          await service.request(`/v1/shipments/${reference}`, {
            apiKey,
            method: "PATCH",
            body: { weight_kg: step.weightKg },
          });
          return;
        case "refundByHand": {
          const left = charge ? charge.amount - charge.amount_refunded - lostMinor() : 0;
          if (left <= 0 || isDisputed()) return;
          stripe.refundByHand(paid()!.id, partOf(left, step.percent));
          return;
        }
        case "refundsBecome":
          stripe.refundsBecome(account, step.status);
          return;
        case "settleRefunds":
          settleRefunds(step.well);
          return;
        case "dispute":
          if (charge === undefined || isDisputed()) return;
          stripe.openDispute(paid()!.id, { amount: partOf(charge.amount, step.percent) });
          return;
        case "closeDispute":
          closeDisputes(step.well);
          return;
        case "deliver":
          await stripe.deliverNotices(step);
          return;
        case "drop":
          stripe.dropNotices();
          return;
        case "wait":
          clock.ms += step.minutes * 60_000;
          stripe.settleDue();
          await work();
          return;
        case "work":
          await work();
          return;
        case "fault":
          faults.push(stripe.fault(step.line, step.fault));
      }
    }

    /** Nothing is under way or in the way any more, and what has become of it is found without a notice. */
    async function rest(): Promise<void> {
      for (const fault of faults) fault.release();
      stripe.refundsBecome(account, "succeeded");
      for (let round = 0; round < MAX_ROUNDS; round++) {
        // A look that is under way has read what is now to change, and would end a day later.
        await work();
        settle(true);
        settleRefunds(true);
        closeDisputes(true);
        stripe.dropNotices();
        clock.ms += 25 * 60 * 60_000;
        stripe.settleDue();
        await work();
        const { payment_status } = await getShipment(service, apiKey, reference);
        if (payment_status !== "refund_pending") return;
        await post("/refunds/retry");
        await work();
      }
    }

    for (const step of history) await live(step);
    await rest();
    const shipment = await getShipment(service, apiKey, reference);
    const lines = stripe.payments(account).filter((line) => line.reference === reference);
    const sum = (pick: (line: (typeof lines)[number]) => number) =>
      lines.reduce((total, line) => total + pick(line), 0);
    const minor = (amount: number) => Math.round(amount * 100);
    return {
      status: shipment["status"],
      paymentStatus: shipment["payment_status"],
      totalMinor: minor(shipment["total"]),
      refundedMinor: minor(shipment["payment_details"]?.refunded_amount ?? 0),
      disputedMinor: minor(shipment["payment_details"]?.disputed_amount ?? 0),
      charges: sum(({ charges }) => charges),
      chargedMinor: sum(({ charged }) => charged),
      refundedAtStripeMinor: sum(({ refunded }) => refunded),
      lostAtStripeMinor: lostMinor(),
      ownRefunds: refunds().filter(
        ({ metadata, status }) => metadata?.["attempt"] && status === "succeeded",
      ).length,
    };
  };
}

/** A percentage of an amount, at least one minor unit. */
function partOf(amountMinor: number, percent: number): number {
  return Math.max(1, Math.floor((amountMinor * percent) / 100));
}

/** Money at Stripe and here agree, and nothing was charged or refunded twice. */
function assertAgrees(rest: Rest): void {
  const { status, paymentStatus, totalMinor, charges, chargedMinor, ownRefunds } = rest;
  const { refundedMinor, disputedMinor } = rest;
  const said = JSON.stringify(rest);
  expect(charges, said).toBeLessThanOrEqual(1);
  expect(ownRefunds, said).toBeLessThanOrEqual(1);
  expect(refundedMinor, said).toBe(rest.refundedAtStripeMinor);
  const unrefundedMinor = chargedMinor - refundedMinor;
  expect(disputedMinor, said).toBe(Math.min(rest.lostAtStripeMinor, unrefundedMinor));
  const isUnpaid = paymentStatus === "awaiting_payment" || paymentStatus === "voided";
  expect(chargedMinor, said).toBe(isUnpaid ? 0 : totalMinor);
  if (status === "cancelled") {
    expect(["voided", "refunded"], said).toContain(paymentStatus);
    expect(disputedMinor, said).toBe(unrefundedMinor);
  } else expect(["awaiting_payment", "paid"], said).toContain(paymentStatus);
}
