import { describe, expect, test } from "vitest";
import {
  BOOKED,
  PAYMENT_STATUSES,
  SHIPMENT_STATUSES,
  transition,
} from "../../src/domain/shipment-state.ts";
import type {
  PaymentStatus,
  ShipmentState,
  ShipmentStatus,
  Trigger,
} from "../../src/domain/shipment-state.ts";

const TRIGGERS: Trigger[] = ["pay", "advance", "cancel", "refund"];

function state(status: ShipmentStatus, paymentStatus: PaymentStatus): ShipmentState {
  return { status, paymentStatus };
}

const ALLOWED: [Trigger, ShipmentState, ShipmentState][] = [
  ["pay", state("pending", "awaiting_payment"), state("awaiting_pickup", "paid")],
  ["pay", state("cancelled", "voided"), state("cancelled", "refund_pending")],
  ["advance", state("awaiting_pickup", "paid"), state("in_transit", "paid")],
  ["advance", state("in_transit", "paid"), state("delivered", "paid")],
  ["cancel", state("pending", "awaiting_payment"), state("cancelled", "voided")],
  ["cancel", state("pending", "paid"), state("cancelled", "refund_pending")],
  ["cancel", state("awaiting_pickup", "awaiting_payment"), state("cancelled", "voided")],
  ["cancel", state("awaiting_pickup", "paid"), state("cancelled", "refund_pending")],
  ["refund", state("cancelled", "refund_pending"), state("cancelled", "refunded")],
];

test("a shipment is booked pending and unpaid", () => {
  expect(BOOKED).toEqual(state("pending", "awaiting_payment"));
});

describe("allowed", () => {
  test.each(ALLOWED)("%s from %o leads to %o", (trigger, from, next) => {
    expect(transition(trigger, from)).toEqual({ next });
  });
});

test("everything else is refused with a sentence, whatever the trigger and the state", () => {
  for (const trigger of TRIGGERS)
    for (const status of SHIPMENT_STATUSES)
      for (const paymentStatus of PAYMENT_STATUSES) {
        const allowed = ALLOWED.some(
          ([name, from]) =>
            name === trigger && from.status === status && from.paymentStatus === paymentStatus,
        );
        if (allowed) continue;
        expect(transition(trigger, state(status, paymentStatus))).toEqual({
          refusal: expect.stringMatching(
            /^The shipment cannot be (paid|advanced|cancelled|refunded) because (it|its payment) is [a-z ]+\.$/,
          ),
        });
      }
});

describe("refused", () => {
  test.each([
    [
      "cancel",
      state("in_transit", "paid"),
      "The shipment cannot be cancelled because it is in transit.",
    ],
    [
      "cancel",
      state("delivered", "paid"),
      "The shipment cannot be cancelled because it is delivered.",
    ],
    [
      "cancel",
      state("cancelled", "voided"),
      "The shipment cannot be cancelled because it is already cancelled.",
    ],
    [
      "pay",
      state("awaiting_pickup", "paid"),
      "The shipment cannot be paid because it is awaiting pickup.",
    ],
    [
      "pay",
      state("pending", "paid"),
      "The shipment cannot be paid because its payment is already paid.",
    ],
    [
      "advance",
      state("pending", "awaiting_payment"),
      "The shipment cannot be advanced because it is pending.",
    ],
    [
      "advance",
      state("awaiting_pickup", "awaiting_payment"),
      "The shipment cannot be advanced because its payment is awaiting payment.",
    ],
    [
      "refund",
      state("cancelled", "refunded"),
      "The shipment cannot be refunded because its payment is already refunded.",
    ],
    [
      "refund",
      state("cancelled", "voided"),
      "The shipment cannot be refunded because its payment is voided.",
    ],
  ] as [Trigger, ShipmentState, string][])("%s from %o", (trigger, from, refusal) => {
    expect(transition(trigger, from)).toEqual({ refusal });
  });
});
