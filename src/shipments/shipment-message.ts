import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CustomerSchema,
  type Customer as CustomerMessage,
} from "../../gen/shipments/v1/customer_pb.js";
import {
  PaymentStatus as PaymentStatusMessage,
  ShipmentSchema,
  ShipmentStatus as ShipmentStatusMessage,
  type Shipment as ShipmentMessage,
} from "../../gen/shipments/v1/shipment_pb.js";
import type { Customer } from "../customers/customer.entity.ts";
import { toMajor } from "../domain/money.ts";
import type { PaymentStatus, ShipmentStatus } from "../domain/shipment-state.ts";
import type { Shipment } from "./shipment.entity.ts";

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

/**
 * A shipment, with its customer loaded, as callers see it. The only place where the two shapes
 * meet.
 */
export function shipmentMessage(shipment: Shipment): ShipmentMessage {
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
  });
}

function customerMessage({ id, name, email, idNumber }: Customer): CustomerMessage {
  return create(CustomerSchema, { id: BigInt(id), name, email, idNumber: idNumber ?? undefined });
}
