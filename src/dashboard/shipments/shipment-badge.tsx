import type { PaymentConnection } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import {
  CancelReason,
  DisputeStatus,
  PaymentStatus,
  type PaymentDetails,
  type Shipment,
} from "../../../gen/shipments/v1/shipment_pb.js";
import { Badge, type Label } from "../ui/description-list.tsx";
import { stateOf } from "../ui/shipment-states.ts";

export const CANCEL_REASONS: Readonly<Record<CancelReason, string>> = {
  [CancelReason.UNSPECIFIED]: "No reason given",
  [CancelReason.CUSTOMER_REQUEST]: "Requested by the customer",
  [CancelReason.BOOKED_IN_ERROR]: "Booked by mistake or twice",
  [CancelReason.GOODS_UNAVAILABLE]: "Goods not available",
  [CancelReason.ADDRESS_PROBLEM]: "Problem with an address",
  [CancelReason.PAYMENT_PROBLEM]: "Not paid",
  [CancelReason.OTHER]: "Another reason",
};

type State = Parameters<typeof stateOf>[0];

export function StateBadge(shipment: State) {
  const [text, tone] = stateOf(shipment);
  return <Badge tone={tone}>{text}</Badge>;
}

/** Whether an open dispute blocks refunds. */
export function blocksRefund({ dispute, disputeRefundable }: PaymentDetails): boolean {
  return dispute === DisputeStatus.OPEN && !disputeRefundable;
}

/** Returns an alert from the payment details that the status does not show, or `undefined`. */
function paymentAlert({ paymentDetails }: Pick<Shipment, "paymentDetails">): Label | undefined {
  if (paymentDetails === undefined) return undefined;
  const { dispute, refundError, uncounted, processing, error } = paymentDetails;
  if (dispute === DisputeStatus.OPEN) return ["Disputed", "bad"];
  if (refundError !== undefined) return ["Refund failed", "bad"];
  if (uncounted) return ["Unassigned payment", "bad"];
  if (error !== undefined) return ["Payment failed", "attention"];
  return processing ? ["Payment processing", "neutral"] : undefined;
}

/** Shows an alert from the payment details that the status does not show. */
export function PaymentAlert(shipment: Pick<Shipment, "paymentDetails">) {
  const alert = paymentAlert(shipment);
  return alert === undefined ? null : <Badge tone={alert[1]}>{alert[0]}</Badge>;
}

/** Shows a shipment's alert, or its state without an alert. */
export function AlertOrState(shipment: State & Pick<Shipment, "paymentDetails">) {
  const hasAlert = paymentAlert(shipment) !== undefined;
  return hasAlert ? <PaymentAlert {...shipment} /> : <StateBadge {...shipment} />;
}

/** Whether a shipment was ever paid, even if it was refunded or disputed since. */
export function isPaid({ paymentStatus }: Pick<Shipment, "paymentStatus">): boolean {
  return (
    paymentStatus === PaymentStatus.PAID ||
    paymentStatus === PaymentStatus.REFUND_PENDING ||
    paymentStatus === PaymentStatus.REFUNDED
  );
}

export interface PaymentProps {
  readonly shipment: Shipment;
  /** The workspace's payment connection, or `undefined` until loaded. */
  readonly connection: PaymentConnection | undefined;
}

/** Whether the shipment is paid through Stripe. Such payments are not recorded manually. */
export function isPaidOnline({ shipment, connection }: PaymentProps): boolean {
  const isStripe = connection?.provider === "stripe" && shipment.total > 0;
  return isStripe || shipment.paymentDetails !== undefined;
}
