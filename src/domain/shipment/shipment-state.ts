/** Where a shipment is on its way, in the order in which it gets there. */
export const SHIPMENT_STATUSES = [
  "pending",
  "awaiting_pickup",
  "in_transit",
  "delivered",
  "returned",
  "cancelled",
] as const;

export type ShipmentStatus = (typeof SHIPMENT_STATUSES)[number];

export const PAYMENT_STATUSES = [
  "awaiting_payment",
  "paid",
  "refund_pending",
  "refunded",
  "voided",
] as const;

export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** Why a shipment can be cancelled. */
export const CANCEL_REASONS = [
  "customer_request",
  "booked_in_error",
  "goods_unavailable",
  "address_problem",
  "payment_problem",
  "other",
] as const;

export type CancelReason = (typeof CANCEL_REASONS)[number];

/** The state of a shipment: both statuses, which only ever change together. */
export interface ShipmentState {
  readonly status: ShipmentStatus;
  readonly paymentStatus: PaymentStatus;
}

export type Trigger =
  | "pay"
  | "advance"
  | "return"
  | "cancel"
  | "refund"
  | "reverse_refund"
  | "assign"
  | "expect_at_pickup"
  | "expect_at_dropoff"
  | "arrive_at_pickup"
  | "arrive_at_dropoff"
  | "attempt"
  | "prove"
  | "locate";

/** The state after a trigger, or the sentence that refuses it. */
export type Transition =
  | { readonly next: ShipmentState; readonly refusal?: undefined }
  | { readonly next?: undefined; readonly refusal: string };

export const BOOKED: ShipmentState = { status: "pending", paymentStatus: "awaiting_payment" };

interface Rule {
  /** As in "The shipment cannot be cancelled". */
  readonly participle: string;
  readonly status: Partial<Record<ShipmentStatus, ShipmentStatus>>;
  readonly payment: Partial<Record<PaymentStatus, PaymentStatus>>;
}

const PAID = { paid: "paid" } as const;
const TO_PICK_UP = { awaiting_pickup: "awaiting_pickup" } as const;
const TO_DELIVER = { in_transit: "in_transit" } as const;

/** From which status to which each trigger leads. A status that a rule does not name is refused. */
const RULES: Readonly<Record<Trigger, Rule>> = {
  pay: {
    participle: "paid",
    // A payment that arrives after the cancellation is recorded, and is to be refunded.
    status: { pending: "awaiting_pickup", cancelled: "cancelled" },
    payment: { awaiting_payment: "paid", voided: "refund_pending" },
  },
  advance: {
    participle: "advanced",
    status: { awaiting_pickup: "in_transit", in_transit: "delivered" },
    payment: PAID,
  },
  return: { participle: "returned", status: { in_transit: "returned" }, payment: PAID },
  cancel: {
    participle: "cancelled",
    status: { pending: "cancelled", awaiting_pickup: "cancelled" },
    payment: { awaiting_payment: "voided", paid: "refund_pending" },
  },
  refund: {
    participle: "refunded",
    status: { cancelled: "cancelled" },
    payment: { refund_pending: "refunded" },
  },
  // The bank of whoever paid sends the money back, as for an account that is closed.
  reverse_refund: {
    participle: "owed a refund again",
    status: { cancelled: "cancelled" },
    payment: { refunded: "refund_pending" },
  },
  // What couriers report leaves a shipment where it is.
  assign: {
    participle: "given a courier",
    status: { ...TO_PICK_UP, ...TO_DELIVER },
    payment: PAID,
  },
  expect_at_pickup: {
    participle: "given an ETA at its pickup",
    status: TO_PICK_UP,
    payment: PAID,
  },
  expect_at_dropoff: {
    participle: "given an ETA at its dropoff",
    status: { ...TO_PICK_UP, ...TO_DELIVER },
    payment: PAID,
  },
  arrive_at_pickup: { participle: "reported at its pickup", status: TO_PICK_UP, payment: PAID },
  arrive_at_dropoff: { participle: "reported at its dropoff", status: TO_DELIVER, payment: PAID },
  attempt: {
    participle: "recorded as attempted",
    status: { ...TO_PICK_UP, ...TO_DELIVER },
    payment: PAID,
  },
  locate: {
    participle: "given its courier's place",
    status: { ...TO_PICK_UP, ...TO_DELIVER },
    payment: PAID,
  },
  prove: { participle: "given a proof of delivery", status: TO_DELIVER, payment: PAID },
};

/**
 * What a trigger makes of a state: the next state, or a refusal such as
 * `The shipment cannot be cancelled because it is in transit.`
 */
export function transition(trigger: Trigger, { status, paymentStatus }: ShipmentState): Transition {
  const rule = RULES[trigger];
  const nextStatus = rule.status[status];
  if (nextStatus === undefined) return refuse(rule, `it is ${inWords(status, rule)}`);
  const nextPayment = rule.payment[paymentStatus];
  // A rule names each status by itself, so their pair may be one that does not occur.
  if (nextPayment === undefined || !PAYMENTS_OF[nextStatus].includes(nextPayment)) {
    return refuse(rule, `its payment is ${inWords(paymentStatus, rule)}`);
  }
  return { next: { status: nextStatus, paymentStatus: nextPayment } };
}

function refuse({ participle }: Rule, reason: string): Transition {
  return { refusal: `The shipment cannot be ${participle} because ${reason}.` };
}

function inWords(status: ShipmentStatus | PaymentStatus, { participle }: Rule): string {
  const words = status.replace("_", " ");
  return words === participle ? `already ${words}` : words;
}

/** Which payment statuses a shipment can have, by where it is on its way. */
export const PAYMENTS_OF: Readonly<Record<ShipmentStatus, readonly PaymentStatus[]>> = {
  pending: ["awaiting_payment"],
  awaiting_pickup: ["paid"],
  in_transit: ["paid"],
  delivered: ["paid"],
  returned: ["paid"],
  cancelled: ["voided", "refund_pending", "refunded"],
};

export const STATES: readonly ShipmentState[] = SHIPMENT_STATUSES.flatMap((status) =>
  PAYMENTS_OF[status].map((paymentStatus) => ({ status, paymentStatus })),
);

/** The states that have what is given of both statuses; none when no shipment can have both. */
export function statesWith(given: Partial<ShipmentState>): readonly ShipmentState[] {
  return STATES.filter(
    ({ status, paymentStatus }) =>
      (given.status ?? status) === status &&
      (given.paymentStatus ?? paymentStatus) === paymentStatus,
  );
}

/** Whether something is still to be done about a shipment: by who pays, who carries or who refunds. */
export function isDue({ status, paymentStatus }: ShipmentState): boolean {
  return !hasEnded(status) || paymentStatus === "refund_pending";
}

/** Whether a shipment has come to its end: nothing about it changes any more. */
export function hasEnded(status: ShipmentStatus): boolean {
  return status === "delivered" || status === "returned" || status === "cancelled";
}
