import { describe, expect, test } from "vitest";
import {
  BOOKED,
  PAYMENT_STATUSES,
  SHIPMENT_STATUSES,
  hasEnded,
  statesWith,
  transition,
  type PaymentStatus,
  type ShipmentState,
  type ShipmentStatus,
  type Trigger,
} from "../../../src/domain/shipment/shipment-state.ts";

/** Past participle of each trigger, as used in refusals. */
const PARTICIPLES: Readonly<Record<Trigger, string>> = {
  pay: "paid",
  advance: "advanced",
  return: "returned",
  cancel: "cancelled",
  refund: "refunded",
  reverse_refund: "owed a refund again",
  assign: "given a courier",
  expect_at_pickup: "given an ETA at its pickup",
  expect_at_dropoff: "given an ETA at its dropoff",
  arrive_at_pickup: "reported at its pickup",
  arrive_at_dropoff: "reported at its dropoff",
  attempt: "recorded as attempted",
  prove: "given a proof of delivery",
  locate: "given a courier location",
};
const TRIGGERS = Object.keys(PARTICIPLES) as Trigger[];

function state(status: ShipmentStatus, paymentStatus: PaymentStatus): ShipmentState {
  return { status, paymentStatus };
}

const TO_PICK_UP = state("awaiting_pickup", "paid");
const TO_DELIVER = state("in_transit", "paid");

const ALLOWED: [Trigger, ShipmentState, ShipmentState][] = [
  ["pay", state("pending", "awaiting_payment"), state("awaiting_pickup", "paid")],
  ["pay", state("cancelled", "voided"), state("cancelled", "refund_pending")],
  ["advance", TO_PICK_UP, TO_DELIVER],
  ["advance", TO_DELIVER, state("delivered", "paid")],
  ["cancel", state("pending", "awaiting_payment"), state("cancelled", "voided")],
  ["cancel", state("awaiting_pickup", "paid"), state("cancelled", "refund_pending")],
  ["refund", state("cancelled", "refund_pending"), state("cancelled", "refunded")],
  ["reverse_refund", state("cancelled", "refunded"), state("cancelled", "refund_pending")],
  ["return", TO_DELIVER, state("returned", "paid")],
  ...(["assign", "expect_at_dropoff", "attempt", "locate"] as const).flatMap((trigger): typeof ALLOWED => [
    [trigger, TO_PICK_UP, TO_PICK_UP],
    [trigger, TO_DELIVER, TO_DELIVER],
  ]),
  ["expect_at_pickup", TO_PICK_UP, TO_PICK_UP],
  ["arrive_at_pickup", TO_PICK_UP, TO_PICK_UP],
  ["arrive_at_dropoff", TO_DELIVER, TO_DELIVER],
  ["prove", TO_DELIVER, TO_DELIVER],
];

test("a new shipment is pending and awaits payment", () => {
  expect(BOOKED).toEqual(state("pending", "awaiting_payment"));
});

describe("an allowed transition", () => {
  test.each(ALLOWED)("%s from %o leads to %o", (trigger, from, next) => {
    expect(transition(trigger, from)).toEqual({ next });
  });
});

/** All states that a shipment can have. No step leads to any other state. */
const STATES: ShipmentState[] = [
  state("pending", "awaiting_payment"),
  state("awaiting_pickup", "paid"),
  state("in_transit", "paid"),
  state("delivered", "paid"),
  state("returned", "paid"),
  state("cancelled", "voided"),
  state("cancelled", "refund_pending"),
  state("cancelled", "refunded"),
];

test("any sequence of triggers leads to a known state", () => {
  const reached = [BOOKED];
  for (const from of reached)
    for (const trigger of TRIGGERS) {
      const { next } = transition(trigger, from);
      if (next === undefined) continue;
      expect(STATES).toContainEqual(next);
      const known = reached.some((it) => JSON.stringify(it) === JSON.stringify(next));
      if (!known) reached.push(next);
    }
  expect(reached).toHaveLength(STATES.length);
});

test("refuses every other transition with a sentence", () => {
  for (const trigger of TRIGGERS)
    for (const from of STATES) {
      const allowed = ALLOWED.some(
        ([name, state]) => name === trigger && JSON.stringify(state) === JSON.stringify(from),
      );
      if (allowed) continue;
      expect(transition(trigger, from)).toEqual({
        refusal: expect.stringMatching(
          new RegExp(
            `^The shipment cannot be ${PARTICIPLES[trigger]} because (it|its (payment|refund)) is [a-z ]+\\.$`,
          ),
        ),
      });
    }
});

describe("a refused transition", () => {
  test.each([
    ["cancel", state("in_transit", "paid"), "cancelled because it is in transit"],
    ["cancel", state("delivered", "paid"), "cancelled because it is delivered"],
    ["return", TO_PICK_UP, "returned because it is awaiting pickup"],
    ["return", state("returned", "paid"), "returned because it is already returned"],
    ["cancel", state("cancelled", "voided"), "cancelled because it is already cancelled"],
    ["pay", state("awaiting_pickup", "paid"), "paid because it is awaiting pickup"],
    ["pay", state("pending", "paid"), "paid because its payment is already paid"],
    ["advance", state("pending", "awaiting_payment"), "advanced because it is pending"],
    ["advance", state("awaiting_pickup", "awaiting_payment"), "advanced because it is awaiting payment"],
    ["refund", state("cancelled", "refunded"), "refunded because its payment is already refunded"],
    ["refund", state("cancelled", "voided"), "refunded because its payment is voided"],
  ] as [Trigger, ShipmentState, string][])("%s from %o", (trigger, from, expected) => {
    const refusal = `The shipment cannot be ${expected}.`;
    expect(transition(trigger, from)).toEqual({ refusal });
  });
});

describe("finds the states that match both given statuses", () => {
  const options = <T>(statuses: readonly T[]) => [undefined, ...statuses];
  test.each(
    options(SHIPMENT_STATUSES).flatMap((status) =>
      options(PAYMENT_STATUSES).map((paymentStatus) => [status, paymentStatus] as const),
    ),
  )("%s and %s", (status, paymentStatus) => {
    const expected = STATES.filter(
      (it) =>
        (status === undefined || it.status === status) &&
        (paymentStatus === undefined || it.paymentStatus === paymentStatus),
    );
    expect(statesWith({ status, paymentStatus })).toEqual(expected);
  });
});

test("a shipment is final when it is delivered, returned or cancelled", () => {
  expect(SHIPMENT_STATUSES.filter(hasEnded)).toEqual(["delivered", "returned", "cancelled"]);
});
