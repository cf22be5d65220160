import type Stripe from "stripe";
import { expect, test } from "vitest";
import { paymentSnapshot, type UnknownStatus } from "../../../../src/features/payments/stripe/stripe-payment.ts";

/** Reads a paid session that has one object with the given status. */
function read(found: {
  readonly intent?: string;
  readonly refund?: string | null;
  readonly dispute?: Partial<Stripe.Dispute>;
}) {
  const reported: UnknownStatus[] = [];
  const { intent = "succeeded", refund, dispute } = found;
  const object = <T>(value: object) => value as T;
  const payment = paymentSnapshot(
    {
      session: object({ object: "checkout.session", id: "cs_1", status: "complete", created: 0 }),
      intent: object({
        object: "payment_intent",
        id: "pi_1",
        status: intent,
        currency: "usd",
        amount_received: 1_269,
      }),
      refunds: refund === undefined ? [] : [object({ ...REFUND, status: refund })],
      disputes: dispute === undefined ? [] : [object({ ...DISPUTE, ...dispute })],
    },
    (unknown) => reported.push(unknown),
  );
  return { payment, reported };
}

const REFUND = { object: "refund", id: "re_1", amount: 269 };
const DISPUTE = { object: "dispute", id: "du_1", amount: 1_000, is_charge_refundable: false };

test.for([
  ["warning_needs_response", "open"],
  ["warning_under_review", "open"],
  ["warning_closed", "won"],
  ["needs_response", "open"],
  ["under_review", "open"],
  ["appeal_needs_response", "open"],
  ["appeal_under_review", "open"],
  ["prevented", "lost"],
  ["won", "won"],
  ["lost", "lost"],
] as const)("a dispute with the status %s is %s", ([status, ours]) => {
  const { payment, reported } = read({ dispute: { status } });
  const { dispute, isRefundBlocked, lostMinor } = payment;
  expect({ dispute, isRefundBlocked, lostMinor, reported }).toEqual({
    dispute: ours,
    isRefundBlocked: ours === "open",
    lostMinor: ours === "lost" ? 1_000 : 0,
    reported: [],
  });
});

test("a dispute whose charge is refundable does not block refunds", () => {
  const inquiry = { status: "warning_needs_response", is_charge_refundable: true } as const;
  const { dispute, isRefundBlocked } = read({ dispute: inquiry }).payment;
  expect({ dispute, isRefundBlocked }).toEqual({ dispute: "open", isRefundBlocked: false });
});

test.for(["escalated", "constructor"])("an unknown status %s is reported", (status) => {
  const dispute = read({ dispute: { status } });
  expect(dispute.reported).toEqual([{ object: "dispute", id: "du_1", status }]);
  expect(dispute.payment).toMatchObject({ dispute: "open", isRefundBlocked: true });
  const refund = read({ refund: status });
  expect(refund.reported).toEqual([{ object: "refund", id: "re_1", status }]);
  expect(refund.payment.refunds).toMatchObject([{ status: "pending" }]);
  const intent = read({ intent: status });
  expect(intent.reported).toEqual([{ object: "payment_intent", id: "pi_1", status }]);
  expect(intent.payment.status).toBe("processing");
});

test.for([
  [null, "pending"],
  ["requires_action", "pending"],
  ["canceled", "failed"],
] as const)("a refund with the status %s is %s", ([status, ours]) => {
  const { payment, reported } = read({ refund: status });
  expect({ refunds: payment.refunds, reported }).toMatchObject({
    refunds: [{ status: ours }],
    reported: [],
  });
});
