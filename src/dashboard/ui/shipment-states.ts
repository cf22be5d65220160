import { PaymentStatus, ShipmentStatus, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";

type Labels<State extends number> = Readonly<Record<State, readonly [text: string, tone: string]>>;

const UNKNOWN = ["Unknown", "neutral"] as const;
const TO_PAY = ["To pay", "attention"] as const;

/** Label and color of each shipment state, in life-cycle order. */
export const SHIPMENT_STATES = {
  [ShipmentStatus.UNSPECIFIED]: UNKNOWN,
  [ShipmentStatus.PENDING]: TO_PAY,
  [ShipmentStatus.AWAITING_PICKUP]: ["To pick up", "active"],
  [ShipmentStatus.IN_TRANSIT]: ["In transit", "active"],
  [ShipmentStatus.DELIVERED]: ["Delivered", "good"],
  [ShipmentStatus.RETURNED]: ["Returned", "neutral"],
  [ShipmentStatus.CANCELLED]: ["Cancelled", "neutral"],
} as const satisfies Labels<ShipmentStatus>;

/** Label and color of each payment state. */
export const PAYMENT_STATES = {
  [PaymentStatus.UNSPECIFIED]: UNKNOWN,
  [PaymentStatus.AWAITING_PAYMENT]: TO_PAY,
  [PaymentStatus.PAID]: ["Paid", "good"],
  [PaymentStatus.REFUND_PENDING]: ["Refund due", "attention"],
  [PaymentStatus.REFUNDED]: ["Refunded", "neutral"],
  [PaymentStatus.VOIDED]: ["Voided", "neutral"],
} as const satisfies Labels<PaymentStatus>;

/** Returns the payment's state if the shipment is cancelled and not voided, otherwise the shipment's state. */
export function stateOf({ status, paymentStatus }: Pick<Shipment, "status" | "paymentStatus">) {
  const isOfPayment = status === ShipmentStatus.CANCELLED && paymentStatus !== PaymentStatus.VOIDED;
  return (isOfPayment ? PAYMENT_STATES[paymentStatus] : SHIPMENT_STATES[status]) ?? UNKNOWN;
}
