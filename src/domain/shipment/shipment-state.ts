/** Where a shipment is on its way, in the order in which it gets there. */
export const SHIPMENT_STATUSES = [
  "pending",
  "awaiting_pickup",
  "in_transit",
  "delivered",
  "cancelled",
] as const;

/** Where a shipment is on its way. */
export type ShipmentStatus = (typeof SHIPMENT_STATUSES)[number];

/** What has become of a shipment's payment. */
export const PAYMENT_STATUSES = [
  "awaiting_payment",
  "paid",
  "refund_pending",
  "refunded",
  "voided",
] as const;

/** What has become of a shipment's payment. */
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

/** Why a shipment was cancelled. */
export type CancelReason = (typeof CANCEL_REASONS)[number];

/** The state of a shipment: both statuses, which only ever change together. */
export interface ShipmentState {
  readonly status: ShipmentStatus;
  readonly paymentStatus: PaymentStatus;
}

/** What can happen to a shipment. */
export type Trigger = "pay" | "advance" | "cancel" | "refund";

/** The state after a trigger, or the sentence that refuses it. */
export type Transition =
  | { readonly next: ShipmentState; readonly refusal?: undefined }
  | { readonly next?: undefined; readonly refusal: string };

/** The state of a shipment that has just been booked. */
export const BOOKED: ShipmentState = { status: "pending", paymentStatus: "awaiting_payment" };

interface Rule {
  /** As in "The shipment cannot be cancelled". */
  readonly participle: string;
  readonly status: Partial<Record<ShipmentStatus, ShipmentStatus>>;
  readonly payment: Partial<Record<PaymentStatus, PaymentStatus>>;
}

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
    payment: { paid: "paid" },
  },
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
  cancelled: ["voided", "refund_pending", "refunded"],
};

/** One of the two statuses to look for, or neither. */
export type StateFilter =
  | { readonly status: ShipmentStatus }
  | { readonly paymentStatus: PaymentStatus }
  | Record<string, never>;

/**
 * A filter on both statuses as a filter on one, since one of the two always implies the other;
 * undefined when no shipment can have both.
 */
export function narrowState(
  status: ShipmentStatus | undefined,
  paymentStatus: PaymentStatus | undefined,
): StateFilter | undefined {
  if (status === undefined) return paymentStatus === undefined ? {} : { paymentStatus };
  if (paymentStatus === undefined) return { status };
  if (!PAYMENTS_OF[status].includes(paymentStatus)) return undefined;
  return PAYMENTS_OF[status].length === 1 ? { status } : { paymentStatus };
}

/** Whether a shipment has come to its end: nothing about it changes any more. */
export function hasEnded(status: ShipmentStatus): boolean {
  return status === "delivered" || status === "cancelled";
}
