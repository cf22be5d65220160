import { type Refusal, refuse } from "../refusal.ts";

/** Statuses of a shipment, in the usual order. */
export const SHIPMENT_STATUSES = [
  "pending",
  "awaiting_pickup",
  "in_transit",
  "delivered",
  "returned",
  "cancelled",
] as const;

export type ShipmentStatus = (typeof SHIPMENT_STATUSES)[number];

export const PAYMENT_STATUSES = ["awaiting_payment", "paid", "refund_pending", "refunded", "voided"] as const;

export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

export const CANCEL_REASONS = [
  "customer_request",
  "booked_in_error",
  "goods_unavailable",
  "address_problem",
  "payment_problem",
  "other",
] as const;

export type CancelReason = (typeof CANCEL_REASONS)[number];

/** Delivery and payment status of a shipment. They change only together. */
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

export type Transition =
  | { readonly next: ShipmentState; readonly refusal?: undefined }
  | { readonly next?: undefined; readonly refusal: string };

export const BOOKED: ShipmentState = { status: "pending", paymentStatus: "awaiting_payment" };

interface Rule {
  /** Participle for messages, such as "cancelled" in "The shipment cannot be cancelled". */
  readonly participle: string;
  readonly status: Partial<Record<ShipmentStatus, ShipmentStatus>>;
  readonly payment: Partial<Record<PaymentStatus, PaymentStatus>>;
}

const PAID = { paid: "paid" } as const;
const TO_PICK_UP = { awaiting_pickup: "awaiting_pickup" } as const;
const TO_DELIVER = { in_transit: "in_transit" } as const;

/** Allowed transitions of each trigger. A trigger is refused in statuses that its rule does not list. */
const RULES: Readonly<Record<Trigger, Rule>> = {
  pay: {
    participle: "paid",
    // A payment after the cancellation is recorded and must be refunded.
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
  // The payer's bank returned the refund, for example because the account is closed.
  reverse_refund: {
    participle: "owed a refund again",
    status: { cancelled: "cancelled" },
    payment: { refunded: "refund_pending" },
  },
  // Courier reports leave the status unchanged.
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
    participle: "given a courier location",
    status: { ...TO_PICK_UP, ...TO_DELIVER },
    payment: PAID,
  },
  prove: { participle: "given a proof of delivery", status: TO_DELIVER, payment: PAID },
};

/**
 * Returns the new state after a trigger, or a refusal such as `The shipment cannot be cancelled
 * because it is in transit.`
 */
export function transition(trigger: Trigger, { status, paymentStatus }: ShipmentState): Transition {
  const rule = RULES[trigger];
  const nextStatus = rule.status[status];
  if (nextStatus === undefined) return forbid(rule, `it is ${alreadyIf(rule, status)}${statusText(status)}`);
  const nextPayment = rule.payment[paymentStatus];
  // Each rule lists the two statuses separately, so an impossible pair must be excluded.
  if (nextPayment === undefined || !PAYMENTS_OF[nextStatus].includes(nextPayment)) {
    return forbid(rule, paymentText(paymentStatus, alreadyIf(rule, paymentStatus)));
  }
  return { next: { status: nextStatus, paymentStatus: nextPayment } };
}

function forbid({ participle }: Rule, reason: string): Transition {
  return { refusal: `The shipment cannot be ${participle} because ${reason}.` };
}

/** Returns `already ` if the rule leads to the current status, such as paid. */
function alreadyIf({ participle }: Rule, status: ShipmentStatus | PaymentStatus): string {
  return statusText(status) === participle ? "already " : "";
}

/** Formats a status for messages, such as `in transit`. */
export function statusText(status: ShipmentStatus | PaymentStatus): string {
  return status.replace("_", " ");
}

/** Formats a payment status as the reason of a refusal, such as `its payment is voided`. */
export function paymentText(status: PaymentStatus, adverb = ""): string {
  if (status === "awaiting_payment") return "it is awaiting payment";
  if (status === "refund_pending") return "its refund is pending";
  return `its payment is ${adverb}${statusText(status)}`;
}

/** Creates the SHIPMENT_STATE refusal for a call that the shipment's state does not allow. */
export function stateError(text: string): Refusal {
  return refuse("SHIPMENT_STATE", text, { subject: "shipment" });
}

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

/** Returns the possible states with the given statuses. */
export function statesWith(facts: Partial<ShipmentState>): readonly ShipmentState[] {
  return STATES.filter(
    ({ status, paymentStatus }) =>
      (facts.status ?? status) === status && (facts.paymentStatus ?? paymentStatus) === paymentStatus,
  );
}

/** Whether a payment, a courier's action or a refund is still pending. */
export function isDue({ status, paymentStatus }: ShipmentState): boolean {
  return !hasEnded(status) || paymentStatus === "refund_pending";
}

export function hasEnded(status: ShipmentStatus): boolean {
  return status === "delivered" || status === "returned" || status === "cancelled";
}
