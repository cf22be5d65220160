import { describe, expect, test } from "vitest";
import { startStripeModes } from "../../support/stripe-service.ts";
import { startScenario } from "./payment-scenarios.ts";
import { createPaymentWorker } from "./payment-worker.ts";

const setup = await startStripeModes();
const work = createPaymentWorker(setup);

const pay = "checkout; pay; record";

const REVOKED =
  "error The provided key … does not have access to account … (or that account does not exist). Application access may have been revoked.";
const NOT_CONNECTED = "error The account is no longer connected.";
const MAY_BE_PAID = "it may still be paid at the checkout of a disconnected account.";
const NO_CHARGES =
  "Your account cannot currently make charges. If you are a customer trying to make a purchase, please contact the owner of this site. Your transaction has not been processed.";
const NOT_CONFIRMED =
  "refused: The payment provider has not confirmed the payment. See the shipment's payment_details.";
const OTHER_AMOUNT = "error The payment of 9 USD differs from the shipment's total.";
const OTHER = "error The payment at the checkout belongs to another shipment.";
const IN_XDR = "error The payment is in XDR, which is not a supported currency.";
const NO_ANSWER = "refused: try again in a moment";
const NO_CHECKOUT = "refused: The shipment cannot be paid because its payment is processing.";
const NO_CHANGE = "refused: The shipment's route and weight cannot be changed because its payment is processing.";
const UNCOUNTED = "refused: There is an unassigned payment. Refund it at the payment provider or accept it first.";
const DISPUTED = "refused: The payment is disputed. It cannot be refunded until the dispute is decided.";
const REFUND_FAILED = "refund_error The refund failed: expired_or_canceled_card.";
const ENDED = "error The checkout expired before it was paid.";

/**
 * Scenarios that run in both modes: actions in stages, each with the expected outcome. Modes differ only in the
 * platform's account, so these scenarios contain each kind of call to the provider, and events of checkouts, payments,
 * refunds and disputes.
 */
const SCENARIOS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "cancelling a shipment expires its checkout": {
    "checkout; cancel": "voided; expired; events checkout_opened cancelled updated",
  },
  "a restricted account refuses checkouts, and the error is reported in one event and stays on the shipment": {
    "restrict; checkout": `awaiting_payment; error ${NO_CHARGES}; failed; events payment_failed; refused: The payment provider refused the request: ${NO_CHARGES}`,
    "record; wait 60": `awaiting_payment; error ${NO_CHARGES}; failed; ${NOT_CONFIRMED}`,
  },
  "a caller can record a payment only after Stripe confirms it": {
    record: `awaiting_payment; ${NOT_CONFIRMED}`,
    "checkout; record": `awaiting_payment; page; open; events checkout_opened; ${NOT_CONFIRMED}`,
    "pay; record": "paid; complete 1269; events paid awaiting_pickup; recorded by stripe",
    "work; record": "paid; complete 1269; refused: The shipment cannot be paid because it is awaiting pickup.",
  },
  "a processing payment locks price and route, and pays the shipment when it succeeds": {
    "checkout; process; deliver": "awaiting_payment; processing; complete; events checkout_opened payment_processing",
    "reprice 5; checkout": `awaiting_payment; processing; complete; ${NO_CHANGE}; ${NO_CHECKOUT}`,
    "completeProcessing succeeded; deliver": "paid; complete 1269; events paid awaiting_pickup",
  },
  "an account with an unassigned payment cannot be disconnected until the payment is accepted": {
    "checkout; spoil amount 900; pay; deliver; work; cancel; work; disconnect": `voided; ${OTHER_AMOUNT}; uncounted; failed; complete 900; events checkout_opened payment_failed cancelled; ${UNCOUNTED}`,
    "accept; disconnect": "voided; complete 900; events updated",
  },
  "a failed refund is reported in an event and can be retried": {
    [`${pay}; refundsBecome failed; cancel`]: `refund_pending; ${REFUND_FAILED}; failed; complete 1269 -1269 failed; events checkout_opened paid awaiting_pickup cancelled refund_failed; recorded by stripe`,
    "refundsBecome succeeded; retry":
      "refunded; refunded_amount 12.69; complete 1269 -1269 failed -1269; events updated refunded",
  },
  "an inquiry does not block a refund, and a full refund closes it": {
    [`${pay}; inquire; deliver; work`]:
      "paid; dispute open; dispute_refundable; failed; complete 1269; events checkout_opened paid awaiting_pickup dispute_opened; recorded by stripe",
    "cancel; work":
      "refunded; refunded_amount 12.69; dispute won; complete 1269 -1269; events cancelled refunded dispute_closed",
  },
  "a refund waits for a partial dispute, and returns the rest if the dispute is lost": {
    [`${pay}; dispute 300; cancel; deliver`]:
      "refund_pending; dispute open; failed; complete 1269; events checkout_opened paid awaiting_pickup cancelled dispute_opened; recorded by stripe",
    "closeDispute lost; deliver":
      "refunded; refunded_amount 9.69; dispute lost; disputed_amount 3; complete 1269 -969; events dispute_closed refunded",
  },
  "a payment made while Stripe is unreachable is found once Stripe is back": {
    "checkout; pay; goAway; deliver; work; record; checkout": `awaiting_payment; page; complete 1269; events checkout_opened; ${NO_ANSWER}`,
    "comeBack; wait 10": "paid; complete 1269; events paid awaiting_pickup",
  },
  "polls find refunds and disputes of a completed payment even if every event is lost": {
    [`${pay}; refundByHand 269; dispute; drop; wait 61`]:
      "paid; refunded_amount 2.69; dispute open; failed; complete 1269 -269; events checkout_opened paid awaiting_pickup partly_refunded dispute_opened; recorded by stripe",
  },
  "a checkout in an account with revoked access locks the price and blocks another checkout while it can be paid": {
    "checkout; revokeAccess; work; connect; wait 60; checkout; reprice 5": `awaiting_payment; ${NOT_CONNECTED}; uncounted; failed; open; events checkout_opened payment_failed; refused: The shipment cannot be paid because ${MAY_BE_PAID}; refused: The shipment's price cannot be changed because ${MAY_BE_PAID}`,
    "wait 1440; checkout; process; deliver":
      "awaiting_payment; processing; uncounted; failed; expired; complete; events checkout_opened payment_processing",
    // Accepting covers the page of the other account, which may have been paid too.
    accept: "awaiting_payment; processing; expired; complete; events updated",
    "completeProcessing succeeded; deliver": "paid; expired; complete 1269; events paid awaiting_pickup",
  },
  "a payment that is processing when access is revoked pays the shipment once access is restored": {
    "checkout; process; deliver; work; revokeAccess; wait 60; completeProcessing succeeded; restoreAccess; wait 60":
      "paid; complete 1269; events checkout_opened payment_processing payment_failed paid awaiting_pickup",
  },
  "an expired checkout is replaced by a new one on request": {
    "checkout; expire; deliver": `awaiting_payment; ${ENDED}; failed; expired; events checkout_opened payment_failed`,
    checkout: "awaiting_payment; page; expired; open; events checkout_opened",
  },
  "a failed payment leaves the shipment unpaid, with the error": {
    "checkout; decline; deliver":
      "awaiting_payment; page; error Your card was declined.; failed; open; events checkout_opened payment_failed",
    "process; completeProcessing failed; deliver":
      "awaiting_payment; error Your card was declined.; failed; complete; events updated",
  },
  "a payment in an unsupported currency is unassigned": {
    "checkout; spoil amount 900 xdr; pay; record": `awaiting_payment; ${IN_XDR}; uncounted; failed; complete 900; events checkout_opened payment_failed; ${NOT_CONFIRMED}`,
    "refundByHand; deliver": `awaiting_payment; ${IN_XDR}; failed; complete 900 -900; events updated`,
  },
};

/**
 * Scenarios for live mode only. Those about operators and recorded refunds differ in test mode: twins follow their
 * workspace, and recorded payments move no money.
 */
const SCENARIOS_OF_LIVE_MODE: typeof SCENARIOS = {
  "a completed payment pays the shipment": {
    "checkout; pay; deliver": "paid; complete 1269; events checkout_opened paid awaiting_pickup",
  },
  "an unassigned payment blocks another checkout until it is fully refunded": {
    "checkout; spoil shipment SHP-OTHER; pay; deliver": `awaiting_payment; ${OTHER}; uncounted; failed; complete 1269; events checkout_opened payment_failed`,
    "refundByHand 269; deliver; work; checkout": `awaiting_payment; ${OTHER}; refunded_amount 2.69; uncounted; failed; complete 1269 -269; events partly_refunded; refused: The shipment cannot be paid because it has an unassigned payment, which must be refunded at the payment provider.`,
    "refundByHand; deliver; work; checkout":
      "awaiting_payment; page; complete 1269 -269 -1000; open; events partly_refunded checkout_opened partly_refunded",
    "pay; deliver": "paid; complete 1269 -269 -1000; complete 1269; events paid awaiting_pickup",
  },
  "an account with an unassigned payment cannot be disconnected until the payment is refunded": {
    "checkout; spoil amount 900; pay; deliver; work; cancel": `voided; ${OTHER_AMOUNT}; uncounted; failed; complete 900; events checkout_opened payment_failed cancelled`,
    disconnect: `voided; ${OTHER_AMOUNT}; uncounted; failed; complete 900; ${UNCOUNTED}`,
    "refundByHand; deliver; work; disconnect": `voided; ${OTHER_AMOUNT}; refunded_amount 9; complete 900 -900; events partly_refunded`,
  },
  "an accepted payment stays accepted after a partial refund, and another checkout can be paid": {
    "checkout; spoil amount 900; pay; deliver; work; accept":
      "awaiting_payment; complete 900; events checkout_opened payment_failed updated",
    "refundByHand 100; deliver": "awaiting_payment; refunded_amount 1; complete 900 -100; events partly_refunded",
    "checkout; spoil amount 900; pay; deliver": `awaiting_payment; ${OTHER_AMOUNT}; uncounted; failed; complete 900 -100; complete 900; events checkout_opened partly_refunded payment_failed`,
  },
  "a shipment with an unassigned payment can be recorded as paid after its account is disconnected": {
    "checkout; spoil amount 900; pay; deliver; work; revokeAccess; work; disconnect; record":
      "paid; complete 900; events checkout_opened payment_failed paid awaiting_pickup; recorded by hand",
  },
  "a shipment without an unassigned payment has no payment to accept": {
    "checkout; pay; deliver; work; accept":
      "paid; complete 1269; events checkout_opened paid awaiting_pickup; refused: The shipment has no unassigned payment.",
  },
  "a payment that is confirmed after the cancellation is refunded": {
    "checkout; pay; cancel":
      "refunded; refunded_amount 12.69; complete 1269 -1269; events checkout_opened cancelled paid refunded",
  },
  "cancelling a paid shipment refunds it once": {
    [`${pay}; cancel`]:
      "refunded; refunded_amount 12.69; complete 1269 -1269; events checkout_opened paid awaiting_pickup cancelled refunded; recorded by stripe",
    retry:
      "refunded; refunded_amount 12.69; complete 1269 -1269; refused: The refund cannot be retried because its payment is refunded.",
  },
  "a pending refund can be neither retried nor recorded, and completes when it succeeds": {
    [`${pay}; refundsBecome pending; cancel; work; retry; recordRefund`]: `refund_pending; complete 1269 -1269 pending; events checkout_opened paid awaiting_pickup cancelled; recorded by stripe; refused: The refund cannot be retried because its refund is pending.; ${NOT_CONFIRMED}`,
    "completeRefunds succeeded; deliver": "refunded; refunded_amount 12.69; complete 1269 -1269; events refunded",
  },
  "a refund that Stripe reverses is due again": {
    [`${pay}; cancel; work; drop; reverseRefund; deliver`]: `refund_pending; ${REFUND_FAILED}; failed; complete 1269 -1269 failed; events checkout_opened paid awaiting_pickup cancelled refunded partly_refunded refund_failed; recorded by stripe`,
    retry: "refunded; refunded_amount 12.69; complete 1269 -1269 failed -1269; events updated refunded",
  },
  "a partial refund made in Stripe leaves the shipment paid, and the cancellation refunds the rest": {
    [`${pay}; refundByHand 269; deliver`]:
      "paid; refunded_amount 2.69; complete 1269 -269; events checkout_opened paid awaiting_pickup partly_refunded; recorded by stripe",
    cancel: "refunded; refunded_amount 12.69; complete 1269 -269 -1000; events cancelled refunded",
  },
  "a partial refund made in Stripe is due again if Stripe reverses it after the cancellation": {
    [`${pay}; refundByHand 269; cancel; work; reverseRefund; deliver`]: `refund_pending; ${REFUND_FAILED}; refunded_amount 10; failed; complete 1269 -269 failed -1000; events checkout_opened paid awaiting_pickup cancelled partly_refunded refunded partly_refunded refund_failed; recorded by stripe`,
    retry: "refunded; refunded_amount 12.69; complete 1269 -269 failed -1000 -269; events updated refunded",
  },
  "a refund waits while the payment is disputed, and is made once the dispute is won": {
    [`${pay}; dispute; deliver; work; cancel; work; recordRefund; retry`]: `refund_pending; dispute open; failed; complete 1269; events checkout_opened paid awaiting_pickup dispute_opened cancelled; recorded by stripe; ${DISPUTED}; ${DISPUTED}`,
    "closeDispute won; deliver":
      "refunded; refunded_amount 12.69; dispute won; complete 1269 -1269; events dispute_closed refunded",
  },
  "a refund that failed during an inquiry can be retried": {
    [`${pay}; inquire; refundsBecome failed; cancel; work`]: `refund_pending; ${REFUND_FAILED}; dispute open; dispute_refundable; failed; complete 1269 -1269 failed; events checkout_opened paid awaiting_pickup cancelled dispute_opened refund_failed; recorded by stripe`,
    "refundsBecome succeeded; retry; work":
      "refunded; refunded_amount 12.69; dispute won; complete 1269 -1269 failed -1269; events updated refunded dispute_closed",
  },
  "an inquiry that becomes a chargeback blocks refunds": {
    [`${pay}; inquire; deliver; work; escalate; deliver; work; cancel; work; retry`]: `refund_pending; dispute open; failed; complete 1269; events checkout_opened paid awaiting_pickup dispute_opened updated cancelled; recorded by stripe; ${DISPUTED}`,
  },
  "a shipment whose dispute was lost counts as refunded without another refund": {
    [`${pay}; dispute; closeDispute lost; deliver; work; cancel`]:
      "refunded; dispute lost; disputed_amount 12.69; complete 1269; events checkout_opened paid awaiting_pickup dispute_closed cancelled refunded; recorded by stripe",
  },
  "a partial refund and a lost dispute over the rest leave no refund due": {
    [`${pay}; refundByHand 269; dispute; closeDispute lost; deliver`]:
      "paid; refunded_amount 2.69; dispute lost; disputed_amount 10; complete 1269 -269; events checkout_opened paid awaiting_pickup partly_refunded dispute_closed; recorded by stripe",
    cancel:
      "refunded; refunded_amount 2.69; dispute lost; disputed_amount 10; complete 1269 -269; events cancelled refunded",
  },
  "the amount of a lost dispute is due again if the bank returns it": {
    [`${pay}; dispute 300; closeDispute lost; cancel`]:
      "refunded; refunded_amount 9.69; dispute lost; disputed_amount 3; complete 1269 -969; events checkout_opened paid awaiting_pickup cancelled dispute_closed refunded; recorded by stripe",
    "reverseDispute; deliver":
      "refund_pending; refund_error The payment is only partly refunded.; refunded_amount 9.69; dispute won; failed; complete 1269 -969; events refund_failed dispute_closed",
    retry: "refunded; refunded_amount 12.69; dispute won; complete 1269 -969 -300; events updated refunded",
  },
  "a checkout created by a request without a response is returned on retry, not created again": {
    "fault cut POST /v1/checkout/sessions; checkout; checkout": `awaiting_payment; page; open; events checkout_opened; ${NO_ANSWER}`,
  },
  "a checkout created by a request with an invalid response is returned on retry, not created again": {
    "fault garbled POST /v1/checkout/sessions; checkout; checkout": `awaiting_payment; page; open; events checkout_opened; ${NO_ANSWER}`,
  },
  "an invalid response to a poll does not change an open checkout": {
    "checkout; fault garbled GET /v1/checkout/sessions; wait 4; checkout; pay; record":
      "paid; complete 1269; events checkout_opened paid awaiting_pickup; recorded by stripe",
  },
  "a refund whose response was lost is found and not repeated": {
    [`${pay}; fault cut POST /v1/refunds; cancel; wait 10; wait 10`]:
      "refunded; refunded_amount 12.69; complete 1269 -1269; events checkout_opened paid awaiting_pickup cancelled refunded; recorded by stripe",
  },
  "a checkout and a refund succeed with another idempotency key after Stripe has stored an error for the first": {
    [`fault failed POST /v1/checkout/sessions; checkout; ${pay}`]: `paid; complete 1269; events payment_failed checkout_opened paid awaiting_pickup; ${NO_ANSWER}; recorded by stripe`,
    "fault failed POST /v1/refunds; cancel; wait 10; wait 10":
      "refunded; refunded_amount 12.69; complete 1269 -1269; events cancelled refunded",
  },
  "an event that arrives before the response to the call that caused it has no duplicate effect": {
    [`${pay}; drop; events first; cancel; work; events held`]:
      "refunded; refunded_amount 12.69; complete 1269 -1269; events checkout_opened paid awaiting_pickup cancelled refunded; recorded by stripe",
  },
  "events that arrive three times are applied once, in order": {
    "checkout; decline; pay; refundByHand 269; deliver 3":
      "paid; refunded_amount 2.69; complete 1269 -269; events checkout_opened paid awaiting_pickup partly_refunded",
  },
  "events that arrive three times in reverse order have the same result": {
    "checkout; decline; pay; refundByHand 269; deliver 3 reversed":
      "paid; refunded_amount 2.69; complete 1269 -269; events checkout_opened paid awaiting_pickup partly_refunded",
  },
  "a poll finds the payment of an open checkout within minutes if its event is lost": {
    "checkout; pay; drop; wait 5": "paid; complete 1269; events checkout_opened paid awaiting_pickup",
  },
  "revoked access is reported for a shipment with an open checkout, which does not prevent disconnecting": {
    "checkout; revokeAccess; wait 60": `awaiting_payment; ${REVOKED}; uncounted; failed; open; events checkout_opened payment_failed`,
    disconnect: `awaiting_payment; ${REVOKED}; uncounted; failed; open`,
  },
  "an account with revoked access can be replaced by another, and bookings continue": {
    "checkout; revokeAccess; work; connect; book": "awaiting_payment; page; open; events checkout_opened",
  },
  "the price can change once the checkout in an account with revoked access has expired": {
    "checkout; revokeAccess; work; connect; wait 60; wait 1440; reprice 5": `awaiting_payment; ${NOT_CONNECTED}; uncounted; failed; expired; events checkout_opened payment_failed updated`,
  },
  "a cancelled shipment is listed as failed while its checkout may have been paid in an inaccessible account": {
    "checkout; revokeAccess; wait 60; cancel; wait 1440": `voided; ${REVOKED}; uncounted; failed; expired; events checkout_opened payment_failed cancelled`,
    accept: "voided; expired; events updated",
    // Changes made while the account was inaccessible are applied once it is accessible again.
    "reopen; pay; restoreAccess; wait 60": "refunded; refunded_amount 12.69; complete 1269 -1269; events paid refunded",
  },
  "a payment that is processing when access is revoked locks the price and blocks a checkout until it is recorded": {
    "checkout; process; deliver; work; revokeAccess; wait 60; connect; checkout; reprice 5": `awaiting_payment; processing; ${REVOKED}; uncounted; failed; complete; events checkout_opened payment_processing payment_failed; ${NO_CHECKOUT}; ${NO_CHANGE}`,
    record: "paid; complete; events paid awaiting_pickup; recorded by hand",
  },
  "a shipment whose payment is processing when access is revoked can be cancelled": {
    "checkout; process; deliver; work; revokeAccess; wait 60; cancel": `voided; processing; ${REVOKED}; uncounted; failed; complete; events checkout_opened payment_processing payment_failed cancelled`,
  },
  "after an account is disconnected, callers can record payments of its shipments": {
    "checkout; expire; deliver; work; disconnect; record":
      "paid; expired; events checkout_opened payment_failed paid awaiting_pickup; recorded by hand",
  },
  "an operator can replace an account with revoked access by manual payments, and bookings continue": {
    "checkout; revokeAccess; work; connectManual; book": "awaiting_payment; page; open; events checkout_opened",
  },
  "after an account is disconnected, callers can record refunds, which stay recorded after reconnecting": {
    "checkout; pay; deliver; work; disconnect; cancel":
      "refund_pending; refund_error The account is no longer connected.; failed; complete 1269; events checkout_opened paid awaiting_pickup cancelled refund_failed",
    recordRefund: "refunded; complete 1269; events refunded; recorded by stripe",
    // Nothing prevents the workspace from connecting and disconnecting repeatedly.
    "connect; work; disconnect": "refunded; complete 1269",
  },
};

describe.each([
  ["live", setup, setup.stripeTest, { ...SCENARIOS, ...SCENARIOS_OF_LIVE_MODE }],
  ["test", setup.testMode, setup.stripe, SCENARIOS],
] as const)("in %s mode", (_, mode, other, lives) => {
  test.each(Object.entries(lives))("%s", async (__, stages) => {
    const workspace = await mode.connect();
    const scenario = await startScenario(mode, workspace, work);
    const outcomes: Record<string, string> = {};
    for (const acts of Object.keys(stages)) {
      await scenario.act(`${acts}; work`);
      outcomes[acts] = await scenario.outcome();
    }
    expect(outcomes).toEqual(stages);
    expect(() => other.books(workspace.account)).toThrow("there is no account");
  });
});
