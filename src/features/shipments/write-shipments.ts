import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { insertEventsSql } from "../events/insert-events-sql.ts";
import type { RecordedChange } from "./shipment-events.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/** A shipment that has changed. */
export interface ChangedShipment extends RecordedChange {
  readonly workspace: number;
}

/** The columns that a change can change: name, type, and what to write. */
const COLUMNS: readonly (readonly [string, string, (row: ShipmentRow) => unknown])[] = [
  ["status", "text", (row) => row.status],
  ["payment_status", "text", (row) => row.paymentStatus],
  ["customer_id", "bigint", (row) => row.customer.id],
  ["pickup_address", "text", (row) => row.pickupAddress],
  ["pickup_lat", "float8", (row) => row.pickupLat],
  ["pickup_lng", "float8", (row) => row.pickupLng],
  ["dropoff_address", "text", (row) => row.dropoffAddress],
  ["dropoff_lat", "float8", (row) => row.dropoffLat],
  ["dropoff_lng", "float8", (row) => row.dropoffLng],
  ["weight_kg", "float8", (row) => row.weightKg],
  ["distance_km", "float8", (row) => row.distanceKm],
  ["distance_fee_minor", "bigint", (row) => row.distanceFeeMinor],
  ["weight_fee_minor", "bigint", (row) => row.weightFeeMinor],
  ["base_fee_minor", "bigint", (row) => row.baseFeeMinor],
  ["subtotal_minor", "bigint", (row) => row.subtotalMinor],
  ["total_minor", "bigint", (row) => row.totalMinor],
  ["currency", "text", (row) => row.currency],
  ["tariff_version", "int", (row) => row.tariff],
  ["updated_at", "timestamptz", (row) => timeOf(row.updatedAtMs)],
  ["cancelled_at", "timestamptz", (row) => timeOf(row.cancelledAtMs)],
  ["cancel_reason", "text", (row) => row.cancelReason],
  ["cancel_note", "text", (row) => row.cancelNote],
  ["metadata", "jsonb", (row) => row.metadata],
  ["version", "int", (row) => row.version],
  ["event_count", "int", (row) => row.eventCount],
];

/** Values travel as JSON, so that the statement is the same for any number of rows. */
const WRITE = `
  with written as (
    update shipment as s
    set ${COLUMNS.map(([name]) => `${name} = changed.${name}`).join(", ")}
    from json_to_recordset($1) as changed (
      workspace_id bigint, reference text,
      ${COLUMNS.map(([name, type]) => `${name} ${type}`).join(", ")})
    where s.workspace_id = changed.workspace_id and s.reference = changed.reference
  )
  ${insertEventsSql("$2")}`;

/** Writes shipments that the transaction has locked, and their events. */
export async function writeShipments(
  tx: EntityManager,
  changed: readonly ChangedShipment[],
): Promise<void> {
  if (changed.length === 0) return;
  const rows = changed.map(({ workspace, row }) => ({
    workspace_id: workspace,
    reference: row.reference,
    ...Object.fromEntries(COLUMNS.map(([name, , valueOf]) => [name, valueOf(row)])),
  }));
  const events = changed.flatMap((change) => change.events);
  await runStatement(tx, WRITE, [JSON.stringify(rows), JSON.stringify(events)]);
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
