import fc from "fast-check";
import { expect } from "vitest";
import { getShipment, type StripeService } from "../../support/stripe-service.ts";
import { startScenario } from "./payment-scenarios.ts";
import { createPaymentWorker } from "./payment-worker.ts";

const words = (...parts: (string | fc.Arbitrary<string | number>)[]) =>
  fc
    .tuple(...parts.map((part) => (typeof part === "string" ? fc.constant(part) : part)))
    .map((all) => all.join(" ").trim());

const outcome = fc.constantFrom("succeeded", "failed");
const amount = fc.oneof(fc.integer({ min: 1, max: 1_269 }), fc.constant(1_269));

/** Actions of callers, customers, account owners, banks and the network. */
const act = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(..."checkout pay decline process cancel expire retry record work drop".split(" ")),
  },
  {
    weight: 2,
    arbitrary: fc.oneof(
      words(fc.constantFrom("completeProcessing", "completeRefunds"), outcome),
      words("closeDispute", fc.constantFrom("won", "lost")),
    ),
  },
  { weight: 2, arbitrary: words(fc.constantFrom("refundByHand", "dispute"), amount) },
  words("refundsBecome", fc.constantFrom("pending", "requires_action", "succeeded", "failed", "canceled")),
  words("reprice", fc.constantFrom(1, 2.5, 5)),
  {
    weight: 2,
    arbitrary: words("deliver", fc.constantFrom(1, 2, 3), fc.constantFrom("", "reversed")),
  },
  words("wait", fc.constantFrom(1, 10, 60, 1440)),
  {
    weight: 2,
    arbitrary: words(
      "fault",
      fc.constantFrom("cut", "rateLimited", "failed"),
      fc.constantFrom(
        "POST /v1/checkout/sessions",
        "GET /v1/checkout/sessions",
        "GET /v1/payment_intents",
        "POST /v1/refunds",
        "GET /v1/refunds",
      ),
    ),
  },
);

/** First actions of a history. All include a checkout. */
const beginning = fc.constantFrom(
  "checkout",
  "checkout; pay",
  "checkout; process",
  "checkout; pay; record; cancel",
  "checkout; cancel; pay",
  "checkout; pay; dispute 380; closeDispute lost",
);

/** Random histories of one shipment. */
const histories = fc
  .tuple(beginning, fc.array(act, { minLength: 2, maxLength: 14 }))
  .map(([first, acts]) => [first, ...acts].join("; "));

/**
 * Actions that complete everything in flight, remove all failures, and drop events so that polls
 * must find the results.
 */
const WAIT_FOR_POLLS =
  // Waits for polls: a running poll may have read the old state, and the next one is only due a day later.
  "work; completeProcessing succeeded; completeRefunds succeeded; closeDispute won; drop; wait 1500";
/** Maximum number of retries for a failed refund at the end of a history. */
const MAX_ROUNDS = 4;

/**
 * Runs random histories, each with a new shipment. Fails with the shortest history after which the
 * money at Stripe and in the service differs. The seed determines the histories.
 */
export async function assertHistories(
  setup: StripeService,
  options: Pick<fc.Parameters, "numRuns" | "seed" | "interruptAfterTimeLimit">,
): Promise<void> {
  const work = createPaymentWorker(setup);
  const workspace = await setup.connect();
  const { apiKey } = workspace;
  const property = fc.asyncProperty(histories, async (history) => {
    const scenario = await startScenario(setup, workspace, work);
    const shipment = () => getShipment(setup.service, apiKey, scenario.reference);
    await scenario.act(`${history}; mend; refundsBecome succeeded; ${WAIT_FOR_POLLS}`);
    for (let round = 1; round < MAX_ROUNDS; round++) {
      if ((await shipment())["payment_status"] !== "refund_pending") break;
      await scenario.act(`retry; work; ${WAIT_FOR_POLLS}`);
    }
    assertAgrees(await shipment(), scenario.atStripe);
  });
  await fc.assert(property, options);
}

/** Asserts that the money at Stripe and in the service agrees, without double charges or double refunds. */
function assertAgrees(
  shipment: Awaited<ReturnType<typeof getShipment>>,
  { sessions, summary, refunds, lostMinor }: Awaited<ReturnType<typeof startScenario>>["atStripe"],
): void {
  const snapshot = JSON.stringify([shipment["payment_status"], shipment["payment_details"], sessions().map(summary)]);
  const { status, payment_status: paymentStatus, total, payment_details: details } = shipment;
  const minor = (major: number | undefined) => Math.round((major ?? 0) * 100);
  const [refundedMinor, disputedMinor] = [details?.refunded_amount, details?.disputed_amount].map(minor);
  const succeeded = refunds().filter((refund) => refund.status === "succeeded");
  const paid = sessions().filter(({ payment_status }) => payment_status === "paid");
  expect(paid.length, snapshot).toBeLessThanOrEqual(1);
  expect(succeeded.filter(({ metadata }) => metadata?.["attempt"]).length, snapshot).toBeLessThanOrEqual(1);
  expect(refundedMinor, snapshot).toBe(succeeded.reduce((sum, refund) => sum + refund.amount, 0));
  const chargedMinor = paid[0]?.amount_total ?? 0;
  const unrefundedMinor = chargedMinor - refundedMinor!;
  expect(disputedMinor, snapshot).toBe(Math.min(lostMinor(), unrefundedMinor));
  const isUnpaid = paymentStatus === "awaiting_payment" || paymentStatus === "voided";
  expect(chargedMinor, snapshot).toBe(isUnpaid ? 0 : minor(total));
  if (status === "cancelled") {
    expect(["voided", "refunded"], snapshot).toContain(paymentStatus);
    expect(disputedMinor, snapshot).toBe(unrefundedMinor);
  } else expect(["awaiting_payment", "paid"], snapshot).toContain(paymentStatus);
}
