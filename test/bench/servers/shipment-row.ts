import { toMajor } from "../../../src/domain/pricing/money.ts";
import type { PaymentStatus, ShipmentStatus } from "../../../src/domain/shipment/shipment-state.ts";

/** A shipment with its customer, as the Fastify peer reads it from the database. */
export interface ShipmentRow {
  readonly reference: string;
  readonly status: ShipmentStatus;
  readonly payment_status: PaymentStatus;
  readonly created_by: string | null;
  readonly pickup_address: string;
  readonly pickup_lat: number;
  readonly pickup_lng: number;
  readonly dropoff_address: string;
  readonly dropoff_lat: number;
  readonly dropoff_lng: number;
  readonly weight_kg: number;
  readonly distance_km: number;
  readonly distance_fee_minor: number;
  readonly weight_fee_minor: number;
  readonly base_fee_minor: number;
  readonly subtotal_minor: number;
  readonly total_minor: number;
  readonly currency: string;
  readonly customer_id: number;
  readonly name: string;
  readonly email: string;
  readonly id_number: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly cancelled_at: Date | null;
  readonly cancel_reason: string | null;
  readonly cancel_note: string | null;
  readonly external_reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly event_count: number;
  readonly version: number;
}

/** A shipment as callers see it. */
export function shipmentAnswer(row: ShipmentRow): object {
  const { currency } = row;
  return {
    reference: row.reference,
    status: row.status,
    payment_status: row.payment_status,
    created_by: row.created_by,
    pickup_address: row.pickup_address,
    pickup_lat: row.pickup_lat,
    pickup_lng: row.pickup_lng,
    dropoff_address: row.dropoff_address,
    dropoff_lat: row.dropoff_lat,
    dropoff_lng: row.dropoff_lng,
    weight_kg: row.weight_kg,
    distance_km: row.distance_km,
    distance_fee: toMajor(row.distance_fee_minor, currency),
    weight_fee: toMajor(row.weight_fee_minor, currency),
    base_fee: toMajor(row.base_fee_minor, currency),
    subtotal: toMajor(row.subtotal_minor, currency),
    total: toMajor(row.total_minor, currency),
    currency,
    customer: { id: row.customer_id, name: row.name, email: row.email, id_number: row.id_number },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    cancelled_at: row.cancelled_at?.toISOString() ?? null,
    cancel_reason: row.cancel_reason,
    cancel_note: row.cancel_note,
    external_reference: row.external_reference,
    metadata: row.metadata,
    etag: String(row.version),
  };
}

/** A shipment as its events hold it: the protobuf JSON of the product. */
export function shipmentEventData(row: ShipmentRow): object {
  const { currency } = row;
  return {
    reference: row.reference,
    status: `SHIPMENT_STATUS_${row.status.toUpperCase()}`,
    paymentStatus: `PAYMENT_STATUS_${row.payment_status.toUpperCase()}`,
    pickupAddress: row.pickup_address,
    pickupLat: row.pickup_lat,
    pickupLng: row.pickup_lng,
    dropoffAddress: row.dropoff_address,
    dropoffLat: row.dropoff_lat,
    dropoffLng: row.dropoff_lng,
    weightKg: row.weight_kg,
    distanceKm: row.distance_km,
    distanceFee: toMajor(row.distance_fee_minor, currency),
    weightFee: toMajor(row.weight_fee_minor, currency),
    baseFee: toMajor(row.base_fee_minor, currency),
    subtotal: toMajor(row.subtotal_minor, currency),
    total: toMajor(row.total_minor, currency),
    currency,
    customer: {
      id: String(row.customer_id),
      name: row.name,
      email: row.email,
      idNumber: row.id_number ?? undefined,
    },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    cancelledAt: row.cancelled_at?.toISOString(),
    etag: String(row.version),
  };
}
