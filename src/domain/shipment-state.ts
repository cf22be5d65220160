/** Where a shipment is on its way, in the order of its life. */
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

/** The life of a shipment (contract, section 9). What a rule does not name, it refuses. */
const RULES: Readonly<Record<Trigger, Rule>> = {
  pay: {
    participle: "paid",
    status: { pending: "awaiting_pickup" },
    payment: { awaiting_payment: "paid" },
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
  if (nextPayment === undefined) {
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
