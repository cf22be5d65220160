import {
  CancelReason,
  DisputeStatus,
  PaymentStatus,
  ShipmentStatus,
  type Shipment,
} from "../../../gen/shipments/v1/shipment_pb.js";
import { Badge, choicesOf, type Label } from "../ui/description-list.tsx";

const UNKNOWN: Label = ["Unknown", "neutral"];

const SHIPMENT: Readonly<Record<ShipmentStatus, Label>> = {
  [ShipmentStatus.UNSPECIFIED]: UNKNOWN,
  [ShipmentStatus.PENDING]: ["Pending", "neutral"],
  [ShipmentStatus.AWAITING_PICKUP]: ["Awaiting pickup", "active"],
  [ShipmentStatus.IN_TRANSIT]: ["In transit", "active"],
  [ShipmentStatus.DELIVERED]: ["Delivered", "good"],
  [ShipmentStatus.CANCELLED]: ["Cancelled", "neutral"],
};

const PAYMENT: Readonly<Record<PaymentStatus, Label>> = {
  [PaymentStatus.UNSPECIFIED]: UNKNOWN,
  [PaymentStatus.AWAITING_PAYMENT]: ["Awaiting payment", "attention"],
  [PaymentStatus.PAID]: ["Paid", "good"],
  [PaymentStatus.REFUND_PENDING]: ["Refund pending", "attention"],
  [PaymentStatus.REFUNDED]: ["Refunded", "neutral"],
  [PaymentStatus.VOIDED]: ["Voided", "neutral"],
};

/** Why a shipment was cancelled, in words. */
export const CANCEL_REASONS: Readonly<Record<CancelReason, string>> = {
  [CancelReason.UNSPECIFIED]: "No reason given",
  [CancelReason.CUSTOMER_REQUEST]: "The customer asked for it",
  [CancelReason.BOOKED_IN_ERROR]: "Booked by mistake or twice",
  [CancelReason.GOODS_UNAVAILABLE]: "The goods are not there",
  [CancelReason.ADDRESS_PROBLEM]: "Problem with an address",
  [CancelReason.PAYMENT_PROBLEM]: "Not paid",
  [CancelReason.OTHER]: "Another reason",
};

/** Reasons by number, as they are chosen from; none is chosen at first. */
export const REASONS = Object.entries(CANCEL_REASONS).map(
  ([number, text]) => [number === "0" ? "" : number, text] as const,
);

/** The statuses there are, with their names, for a choice of one. */
export const SHIPMENT_STATUSES = choicesOf(SHIPMENT);
export const PAYMENT_STATUSES = choicesOf(PAYMENT);

export function ShipmentBadge({ status }: { readonly status: ShipmentStatus }) {
  const [label, tone] = SHIPMENT[status] ?? UNKNOWN;
  return <Badge tone={tone}>{label}</Badge>;
}

/** What a payment provider says of a payment besides its status; undefined when that says all. */
function paymentAlert({ paymentDetails }: Pick<Shipment, "paymentDetails">): Label | undefined {
  if (paymentDetails === undefined) return undefined;
  const { dispute, refundError, uncounted, processing, error } = paymentDetails;
  if (dispute === DisputeStatus.OPEN) return ["Disputed", "bad"];
  if (refundError !== undefined) return ["Refund failed", "bad"];
  if (uncounted) return ["Money not counted", "bad"];
  if (error !== undefined) return ["Payment failed", "attention"];
  return processing ? ["Payment processing", "neutral"] : undefined;
}

/** What a payment provider says of a payment besides its status; nothing when that says all. */
export function PaymentAlert(shipment: Pick<Shipment, "paymentDetails">) {
  const alert = paymentAlert(shipment);
  return alert === undefined ? null : <Badge tone={alert[1]}>{alert[0]}</Badge>;
}

/**
 * Where a shipment is, and what is due about it, in one: the payment is said only where the place on the
 * way does not imply it. Only what needs action has a colour.
 */
export function StateBadge(
  shipment: Pick<Shipment, "status" | "paymentStatus" | "paymentDetails">,
) {
  const { status, paymentStatus } = shipment;
  if (paymentAlert(shipment) !== undefined) return <PaymentAlert {...shipment} />;
  if (status === ShipmentStatus.PENDING) return <Badge tone="attention">To pay</Badge>;
  if (status !== ShipmentStatus.CANCELLED || paymentStatus === PaymentStatus.VOIDED) {
    return <Badge>{SHIPMENT[status]?.[0] ?? UNKNOWN[0]}</Badge>;
  }
  const [label, tone] = PAYMENT[paymentStatus] ?? UNKNOWN;
  return (
    <Badge tone={tone}>
      {paymentStatus === PaymentStatus.REFUND_PENDING ? "Refund due" : label}
    </Badge>
  );
}

export function PaymentBadge({ status }: { readonly status: PaymentStatus }) {
  const [label, tone] = PAYMENT[status] ?? UNKNOWN;
  return <Badge tone={tone}>{label}</Badge>;
}

/** Whether a shipment was paid, whatever became of the money since. */
export function isPaid({ paymentStatus }: Pick<Shipment, "paymentStatus">): boolean {
  return (
    paymentStatus === PaymentStatus.PAID ||
    paymentStatus === PaymentStatus.REFUND_PENDING ||
    paymentStatus === PaymentStatus.REFUNDED
  );
}
