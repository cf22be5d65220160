import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CancelReason as CancelReasonMessage,
  PaymentStatus as PaymentStatusMessage,
  ShipmentSchema,
  ShipmentStatus as ShipmentStatusMessage,
  type Shipment as ShipmentMessage,
} from "../../../gen/shipments/v1/shipment_pb.js";
import { customerMessage } from "../customers/customer-message.ts";
import { toMajor } from "../../domain/pricing/money.ts";
import type {
  CancelReason,
  PaymentStatus,
  ShipmentStatus,
} from "../../domain/shipment/shipment-state.ts";
import type { FoundShipment } from "./find-shipment.ts";

const STATUS: Readonly<Record<ShipmentStatus, ShipmentStatusMessage>> = {
  pending: ShipmentStatusMessage.PENDING,
  awaiting_pickup: ShipmentStatusMessage.AWAITING_PICKUP,
  in_transit: ShipmentStatusMessage.IN_TRANSIT,
  delivered: ShipmentStatusMessage.DELIVERED,
  cancelled: ShipmentStatusMessage.CANCELLED,
};

const PAYMENT_STATUS: Readonly<Record<PaymentStatus, PaymentStatusMessage>> = {
  awaiting_payment: PaymentStatusMessage.AWAITING_PAYMENT,
  paid: PaymentStatusMessage.PAID,
  refund_pending: PaymentStatusMessage.REFUND_PENDING,
  refunded: PaymentStatusMessage.REFUNDED,
  voided: PaymentStatusMessage.VOIDED,
};

const CANCEL_REASON: Readonly<Record<CancelReason, CancelReasonMessage>> = {
  customer_request: CancelReasonMessage.CUSTOMER_REQUEST,
  booked_in_error: CancelReasonMessage.BOOKED_IN_ERROR,
  goods_unavailable: CancelReasonMessage.GOODS_UNAVAILABLE,
  address_problem: CancelReasonMessage.ADDRESS_PROBLEM,
  payment_problem: CancelReasonMessage.PAYMENT_PROBLEM,
  other: CancelReasonMessage.OTHER,
};

/** The stored value of an enum that a caller sends; undefined when it sends none. */
export const statusOf = inverse(STATUS);
export const paymentStatusOf = inverse(PAYMENT_STATUS);
export const cancelReasonOf = inverse(CANCEL_REASON);

function inverse<Stored extends string, Sent extends number>(
  sentOf: Readonly<Record<Stored, Sent>>,
): (sent: Sent | undefined) => Stored | undefined {
  const entries = Object.entries(sentOf) as [Stored, Sent][];
  const storedOf = new Map(entries.map(([stored, sent]) => [sent, stored]));
  return (sent) => (sent === undefined ? undefined : storedOf.get(sent));
}

/**
 * A shipment as callers see it, with its amounts in major units. The only mapping between the row
 * and the message.
 */
export function shipmentMessage(shipment: FoundShipment): ShipmentMessage {
  const { currency } = shipment;
  return create(ShipmentSchema, {
    reference: shipment.reference,
    status: STATUS[shipment.status],
    paymentStatus: PAYMENT_STATUS[shipment.paymentStatus],
    createdBy: shipment.createdBy ?? undefined,
    pickupAddress: shipment.pickupAddress,
    pickupLat: shipment.pickupLat,
    pickupLng: shipment.pickupLng,
    dropoffAddress: shipment.dropoffAddress,
    dropoffLat: shipment.dropoffLat,
    dropoffLng: shipment.dropoffLng,
    weightKg: shipment.weightKg,
    distanceKm: shipment.distanceKm,
    distanceFee: toMajor(shipment.distanceFeeMinor, currency),
    weightFee: toMajor(shipment.weightFeeMinor, currency),
    baseFee: toMajor(shipment.baseFeeMinor, currency),
    subtotal: toMajor(shipment.subtotalMinor, currency),
    total: toMajor(shipment.totalMinor, currency),
    currency,
    customer: customerMessage(shipment.customer),
    createdAt: timestampFromDate(shipment.createdAt),
    updatedAt: timestampFromDate(shipment.updatedAt),
    cancelledAt: shipment.cancelledAt ? timestampFromDate(shipment.cancelledAt) : undefined,
    cancelReason: shipment.cancelReason ? CANCEL_REASON[shipment.cancelReason] : undefined,
    cancelNote: shipment.cancelNote ?? undefined,
    externalReference: shipment.externalReference ?? undefined,
    metadata: { ...shipment.metadata },
    etag: String(shipment.version),
  });
}
