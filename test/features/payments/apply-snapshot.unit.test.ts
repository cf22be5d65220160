import fc from "fast-check";
import { expect, test } from "vitest";
import { transition } from "../../../src/domain/shipment/shipment-state.ts";
import { applySnapshot, remainingAmount } from "../../../src/features/payments/apply-snapshot.ts";
import type { PaymentSnapshot, RefundSnapshot } from "../../../src/features/payments/payment-provider.ts";
import type { ShipmentRow } from "../../../src/features/shipments/shipment-row.ts";

const PAID_MINOR = 1_000;
const KNOWN = {
  workspace: 7,
  version: 1,
  amountMinor: PAID_MINOR,
  currency: "USD",
  refundAttempt: 1,
  refundRefusal: null,
};

interface Dispute {
  readonly amountMinor: number;
  status: "open" | "won" | "lost";
}

type Refund = { -readonly [Name in keyof RefundSnapshot]: RefundSnapshot[Name] };

/** An action at the provider, or on the shipment, between two polls. */
type Act =
  | { readonly act: "cancel" | "settle" | "take_back" | "win" | "lose" | "reverse" }
  | { readonly act: "refund" | "dispute"; readonly amountMinor: number; readonly own: boolean };

const actions = fc.array(
  fc.oneof(
    fc.record({
      act: fc.constantFrom("cancel", "settle", "take_back", "win", "lose", "reverse"),
    }),
    fc.record({
      act: fc.constantFrom("refund", "dispute"),
      amountMinor: fc.oneof(fc.constant(PAID_MINOR), fc.integer({ min: 1, max: PAID_MINOR })),
      own: fc.boolean(),
    }),
  ) as fc.Arbitrary<Act>,
  { maxLength: 12 },
);

/** Creates a payment at the provider on which random actions are performed. */
function createPayment() {
  const refunds: Refund[] = [];
  const disputes: Dispute[] = [];
  const sum = (amounts: readonly { readonly amountMinor: number }[]) =>
    amounts.reduce((total, { amountMinor }) => total + amountMinor, 0);
  const lostMinor = () => sum(disputes.filter(({ status }) => status === "lost"));
  const open = () => disputes.find(({ status }) => status === "open");
  const close = (status: "won" | "lost") => open() && Object.assign(open()!, { status });
  return {
    happen(step: Act): void {
      const refunded = sum(refunds.filter(({ status }) => status !== "failed"));
      if (step.act === "win" || step.act === "lose") close(step.act === "win" ? "won" : "lost");
      if (step.act === "reverse") {
        const lost = disputes.find(({ status }) => status === "lost");
        if (lost !== undefined) lost.status = "won";
      }
      if (step.act === "dispute" && open() === undefined) {
        disputes.push({ amountMinor: step.amountMinor, status: "open" });
      }
      if (step.act === "refund" && open() === undefined) {
        const amountMinor = Math.min(step.amountMinor, PAID_MINOR - refunded - lostMinor());
        const attempt = step.own ? 1 : null;
        if (amountMinor > 0) refunds.push({ amountMinor, attempt, status: "pending", error: null });
      }
      const pending = refunds.find(({ status }) => status === "pending");
      if (step.act === "settle" && pending) pending.status = "succeeded";
      const last = refunds.findLast(({ status }) => status !== "failed");
      if (step.act === "take_back" && last) Object.assign(last, { status: "failed", error: "No." });
    },
    find: (): PaymentSnapshot => ({
      checkout: null,
      openedAt: null,
      status: "paid",
      error: null,
      reference: "7 SHP-1",
      payment: "pi_1",
      amountMinor: PAID_MINOR,
      currency: "USD",
      refunds,
      dispute: open() ? "open" : (disputes.at(-1)?.status ?? null),
      isRefundBlocked: open() !== undefined,
      lostMinor: lostMinor(),
    }),
  };
}

test("refunded, disputed and remaining amounts add up to the paid amount, and no remaining amount counts as refunded", () => {
  fc.assert(
    fc.property(actions, (steps) => {
      const payment = createPayment();
      let row = {
        reference: "SHP-1",
        status: "pending",
        paymentStatus: "awaiting_payment",
        totalMinor: PAID_MINOR,
        currency: "USD",
        paymentDetails: null,
      } as ShipmentRow;
      for (const step of steps) {
        payment.happen(step);
        if (step.act === "cancel") row = { ...row, ...transition("cancel", row).next };
        const snapshot = payment.find();
        row = applySnapshot(row, snapshot, KNOWN, new Date(0));
        const { refundedMinor, disputedMinor = 0, refundError } = row.paymentDetails!;
        const leftMinor = PAID_MINOR - refundedMinor - disputedMinor;
        expect(leftMinor).toBe(remainingAmount(snapshot));
        expect(Math.min(refundedMinor, disputedMinor, leftMinor)).toBeGreaterThanOrEqual(0);
        const isRefundDue = row.status === "cancelled" && leftMinor > 0;
        const status = row.status === "cancelled" ? "refunded" : "paid";
        expect(row.paymentStatus).toBe(isRefundDue ? "refund_pending" : status);
        const hasRefund = snapshot.refunds.some(({ attempt }) => attempt === 1);
        const isPending = snapshot.refunds.some((refund) => refund.status === "pending");
        // Otherwise no further refund would be attempted.
        if (isRefundDue && hasRefund && !isPending) expect(refundError).not.toBeNull();
      }
    }),
    { numRuns: 1_000 },
  );
});
