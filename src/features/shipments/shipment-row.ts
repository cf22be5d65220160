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
 * What to select for `shipmentRow`, from `shipment as s` and its `customer as c`. As numbers, since
 * pg gives bigints and times as text.
 */
export const SHIPMENT_COLUMNS = `
  s.reference, s.status, s.payment_status, s.created_by,
  s.pickup_address, s.pickup_lat, s.pickup_lng,
  s.dropoff_address, s.dropoff_lat, s.dropoff_lng, s.weight_kg, s.distance_km,
  s.distance_fee_minor::float8, s.weight_fee_minor::float8, s.base_fee_minor::float8,
  s.subtotal_minor::float8, s.total_minor::float8, s.currency,
  c.id::float8, c.name, c.email, c.id_number,
  date_part('epoch', s.created_at) as created_at, date_part('epoch', s.updated_at) as updated_at,
  date_part('epoch', s.cancelled_at) as cancelled_at,
  s.cancel_reason, s.cancel_note, s.external_reference, s.metadata::text,
  s.version, s.event_count, s.tariff_version`;

/** Joins a shipment to its customer. */
export const CUSTOMER_OF_SHIPMENT =
  "customer c on c.workspace_id = s.workspace_id and c.id = s.customer_id";

type Columns = readonly [
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
  metadata: string,
  version: number,
  eventCount: number,
  tariff: number,
];

/**
 * Reads the values of `SHIPMENT_COLUMNS`, in their order.
 *
 * @param skip how many values of other columns come before them
 */
export function shipmentRow(values: readonly unknown[], skip = 0): ShipmentRow {
  const columns = (skip === 0 ? values : values.slice(skip)) as unknown as Columns;
  const cancelledAt = columns[24];
  return {
    reference: columns[0],
    status: columns[1],
    paymentStatus: columns[2],
    createdBy: columns[3],
    pickupAddress: columns[4],
    pickupLat: columns[5],
    pickupLng: columns[6],
    dropoffAddress: columns[7],
    dropoffLat: columns[8],
    dropoffLng: columns[9],
    weightKg: columns[10],
    distanceKm: columns[11],
    distanceFeeMinor: columns[12],
    weightFeeMinor: columns[13],
    baseFeeMinor: columns[14],
    subtotalMinor: columns[15],
    totalMinor: columns[16],
    currency: columns[17],
    customer: {
      id: columns[18],
      name: columns[19],
      email: columns[20],
      idNumber: columns[21],
    },
    createdAtMs: milliseconds(columns[22]),
    updatedAtMs: milliseconds(columns[23]),
    cancelledAtMs: cancelledAt === null ? null : milliseconds(cancelledAt),
    cancelReason: columns[25],
    cancelNote: columns[26],
    externalReference: columns[27],
    metadata: columns[28] === "{}" ? NO_METADATA : JSON.parse(columns[28]),
    version: columns[29],
    eventCount: columns[30],
    tariff: columns[31],
  };
}

const NO_METADATA: ShipmentRow["metadata"] = {};

/** Seconds as PostgreSQL gives them, in whole milliseconds, which is as fine as times are stored. */
function milliseconds(seconds: number): number {
  return Math.round(seconds * 1_000);
}
