import {
  CancelReason,
  PaymentStatus,
  ShipmentStatus,
} from "../../../gen/shipments/v1/shipment_pb.js";
import { Badge, choicesOf, type Label } from "../ui/badge.tsx";

const UNKNOWN: Label = ["Unknown", "neutral"];

const SHIPMENT: Readonly<Record<ShipmentStatus, Label>> = {
  [ShipmentStatus.UNSPECIFIED]: UNKNOWN,
  [ShipmentStatus.PENDING]: ["Pending", "attention"],
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

/** The statuses there are, with their names, for a choice of one. */
export const SHIPMENT_STATUSES = choicesOf(SHIPMENT);
export const PAYMENT_STATUSES = choicesOf(PAYMENT);

/** Where a shipment is on its way. */
export function ShipmentBadge({ status }: { readonly status: ShipmentStatus }) {
  const [label, tone] = SHIPMENT[status] ?? UNKNOWN;
  return <Badge tone={tone}>{label}</Badge>;
}

/** Where the payment of a shipment stands. */
export function PaymentBadge({ status }: { readonly status: PaymentStatus }) {
  const [label, tone] = PAYMENT[status] ?? UNKNOWN;
  return <Badge tone={tone}>{label}</Badge>;
}
