import type {
  CancelReason,
  PaymentStatus,
  ShipmentStatus,
} from "../../domain/shipment/shipment-state.ts";
import type { CustomerRow } from "../customers/customer-row.ts";

/** A shipment with its customer, as stored. Amounts are in minor units of the currency. */
export interface ShipmentRow {
  readonly reference: string;
  readonly status: ShipmentStatus;
  readonly paymentStatus: PaymentStatus;
  readonly createdBy: string | null;
  readonly pickupAddress: string;
  readonly pickupLat: number;
  readonly pickupLng: number;
  readonly dropoffAddress: string;
  readonly dropoffLat: number;
  readonly dropoffLng: number;
  readonly weightKg: number;
  /** Rounded to three decimals. */
  readonly distanceKm: number;
  readonly distanceFeeMinor: number;
  readonly weightFeeMinor: number;
  readonly baseFeeMinor: number;
  readonly subtotalMinor: number;
  readonly totalMinor: number;
  readonly currency: string;
  readonly customer: CustomerRow;
  /** Milliseconds since the epoch, as are all times here. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly cancelledAtMs: number | null;
  readonly cancelReason: CancelReason | null;
  readonly cancelNote: string | null;
  readonly externalReference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Counts changes; the etag. */
  readonly version: number;
  /** The number of its last event. */
  readonly eventCount: number;
  /** The tariff version it was priced with. */
  readonly tariff: number;
}

/**
 * What to select for `shipmentRow`, from `shipment as s` and its `customer as c`: a JSON array in one
 * column. pg takes as long to describe and parse 32 columns as all the rest of a look-up takes.
 */
export const SHIPMENT_COLUMN = `json_build_array(
  s.reference, s.status, s.payment_status, s.created_by,
  s.pickup_address, s.pickup_lat, s.pickup_lng,
  s.dropoff_address, s.dropoff_lat, s.dropoff_lng, s.weight_kg, s.distance_km,
  s.distance_fee_minor, s.weight_fee_minor, s.base_fee_minor,
  s.subtotal_minor, s.total_minor, s.currency,
  c.id, c.name, c.email, c.id_number,
  date_part('epoch', s.created_at), date_part('epoch', s.updated_at),
  date_part('epoch', s.cancelled_at),
  s.cancel_reason, s.cancel_note, s.external_reference, s.metadata,
  s.version, s.event_count, s.tariff_version)::text as shipment`;

/** Joins a shipment to its customer, which is looked up for each shipment. */
export const CUSTOMER_OF_SHIPMENT = `lateral (
    select * from customer
    where customer.workspace_id = s.workspace_id and customer.id = s.customer_id limit 1
  ) as c on true`;

type Values = readonly [
  reference: string,
  status: ShipmentStatus,
  paymentStatus: PaymentStatus,
  createdBy: string | null,
  pickupAddress: string,
  pickupLat: number,
  pickupLng: number,
  dropoffAddress: string,
  dropoffLat: number,
  dropoffLng: number,
  weightKg: number,
  distanceKm: number,
  distanceFeeMinor: number,
  weightFeeMinor: number,
  baseFeeMinor: number,
  subtotalMinor: number,
  totalMinor: number,
  currency: string,
  customerId: number,
  customerName: string,
  customerEmail: string,
  customerIdNumber: string | null,
  createdAt: number,
  updatedAt: number,
  cancelledAt: number | null,
  cancelReason: CancelReason | null,
  cancelNote: string | null,
  externalReference: string | null,
  metadata: Readonly<Record<string, string>>,
  version: number,
  eventCount: number,
  tariff: number,
];

/** Reads what was selected as `SHIPMENT_COLUMN`. */
export function shipmentRow(column: string): ShipmentRow {
  const values: Values = JSON.parse(column);
  const cancelledAt = values[24];
  return {
    reference: values[0],
    status: values[1],
    paymentStatus: values[2],
    createdBy: values[3],
    pickupAddress: values[4],
    pickupLat: values[5],
    pickupLng: values[6],
    dropoffAddress: values[7],
    dropoffLat: values[8],
    dropoffLng: values[9],
    weightKg: values[10],
    distanceKm: values[11],
    distanceFeeMinor: values[12],
    weightFeeMinor: values[13],
    baseFeeMinor: values[14],
    subtotalMinor: values[15],
    totalMinor: values[16],
    currency: values[17],
    customer: {
      id: values[18],
      name: values[19],
      email: values[20],
      idNumber: values[21],
    },
    createdAtMs: milliseconds(values[22]),
    updatedAtMs: milliseconds(values[23]),
    cancelledAtMs: cancelledAt === null ? null : milliseconds(cancelledAt),
    cancelReason: values[25],
    cancelNote: values[26],
    externalReference: values[27],
    metadata: values[28],
    version: values[29],
    eventCount: values[30],
    tariff: values[31],
  };
}

/** Seconds as PostgreSQL gives them, in whole milliseconds, which is as fine as times are stored. */
function milliseconds(seconds: number): number {
  return Math.round(seconds * 1_000);
}
