import { toMajor } from "../../domain/pricing/money.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/**
 * A shipment as the JSON dialect of `/v1` writes its message: what
 * `compileEncodeJson(ShipmentSchema)` makes of `shipmentMessage`, without making the message. A test
 * holds the two equal.
 */
export function shipmentJson(row: ShipmentRow) {
  const { currency, customer } = row;
  return {
    reference: row.reference,
    status: row.status,
    payment_status: row.paymentStatus,
    created_by: row.createdBy,
    pickup_address: row.pickupAddress,
    pickup_lat: row.pickupLat,
    pickup_lng: row.pickupLng,
    dropoff_address: row.dropoffAddress,
    dropoff_lat: row.dropoffLat,
    dropoff_lng: row.dropoffLng,
    weight_kg: row.weightKg,
    distance_km: row.distanceKm,
    distance_fee: toMajor(row.distanceFeeMinor, currency),
    weight_fee: toMajor(row.weightFeeMinor, currency),
    base_fee: toMajor(row.baseFeeMinor, currency),
    subtotal: toMajor(row.subtotalMinor, currency),
    total: toMajor(row.totalMinor, currency),
    currency,
    customer: {
      id: customer.id,
      name: customer.name,
      email: customer.email,
      id_number: customer.idNumber,
    },
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    cancelled_at: row.cancelledAt?.toISOString() ?? null,
    cancel_reason: row.cancelReason,
    cancel_note: row.cancelNote,
    external_reference: row.externalReference,
    metadata: row.metadata,
    etag: String(row.version),
  };
}
