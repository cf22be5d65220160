import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { writeCustomersSql, type WrittenCustomer } from "../customers/link-customers.ts";
import { insertEventsSql, type NewEvent } from "../events/insert-events.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { shipmentEventTypes } from "../../domain/event-type.ts";
import type { ShipmentState } from "../../domain/shipment/shipment-state.ts";
import type { Call } from "../../pipeline/call.ts";
import { shipmentMessage } from "./shipment-message.ts";

/** A shipment that is new or has changed. */
export interface ChangedShipment extends RecordedChange {
  readonly workspace: number;
  /** Of one that is new: whether the booking named the price that had been quoted for it. */
  readonly quoted?: boolean;
}

/** Name, type, and what to write. */
type Column = readonly [string, string, (row: ShipmentRow) => unknown];

/** The columns that a change can change. */
const CHANGING: readonly Column[] = [
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

/** All columns but the workspace's. */
const COLUMNS: readonly Column[] = [
  ["reference", "text", (row) => row.reference],
  ["created_by", "text", (row) => row.createdBy],
  ["created_at", "timestamptz", (row) => timeOf(row.createdAtMs)],
  ["external_reference", "text", (row) => row.externalReference],
  ...CHANGING,
];

const NAMES = ["workspace_id", "quoted", ...COLUMNS.map(([name]) => name)].join(", ");

/** Values travel as JSON, so that a statement is the same for any number of rows. */
const WRITTEN = `json_to_recordset($1) as written (
  workspace_id bigint, quoted boolean, ${COLUMNS.map(([name, type]) => `${name} ${type}`).join(", ")})`;

/**
 * The condition on the version always holds: with it PostgreSQL expects one row instead of 100, for
 * which it would read all of a table of some ten thousand shipments.
 */
const UPDATE = `
  with updated as (
    update shipment as s
    set ${CHANGING.map(([name]) => `${name} = written.${name}`).join(", ")}
    from ${WRITTEN}
    where s.workspace_id = written.workspace_id and s.reference = written.reference
      and written.version between 0 and 2147483647
  )
  ${insertEventsSql("$2")}`;

const INSERT = `
  with inserted as (insert into shipment (${NAMES}) select ${NAMES} from ${WRITTEN}),
    customers as (${writeCustomersSql("$3")})
  ${insertEventsSql("$2")}`;

/** Writes shipments that the transaction has locked, and their events. */
export async function updateShipments(
  tx: EntityManager,
  changed: readonly ChangedShipment[],
): Promise<void> {
  if (changed.length > 0) await runStatement(tx, UPDATE, valuesOf(changed));
}

/**
 * Writes new shipments, their events, and what is new about their customers: by one statement,
 * because MikroORM's unit of work takes longer than all the rest of a booking.
 */
export async function insertShipments(
  tx: EntityManager,
  booked: readonly ChangedShipment[],
  customers: readonly WrittenCustomer[],
): Promise<void> {
  if (booked.length === 0) return;
  await runStatement(tx, INSERT, [...valuesOf(booked), JSON.stringify(customers)]);
}

/** The shipments and their events. */
function valuesOf(written: readonly ChangedShipment[]): string[] {
  const rows = written.map(({ workspace, quoted, row }) => ({
    workspace_id: workspace,
    quoted,
    ...Object.fromEntries(COLUMNS.map(([name, , valueOf]) => [name, valueOf(row)])),
  }));
  return [JSON.stringify(rows), JSON.stringify(written.flatMap(({ events }) => events))];
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A shipment as a change leaves it, and what happened to it. */
export interface RecordedChange {
  /** With its new events counted. */
  readonly row: ShipmentRow;
  readonly events: readonly NewEvent[];
}

/**
 * The events of a shipment whose row is locked or new, which makes their numbers have no gaps.
 *
 * @param before its state before the change; undefined when it was just booked
 * @param after the row as it will be written, but for `eventCount`, which does not count these yet
 * @param call the call that makes the change
 */
export function shipmentEvents(
  before: ShipmentState | undefined,
  after: ShipmentRow,
  { caller, received }: Call,
): RecordedChange {
  const data = toJson(ShipmentSchema, shipmentMessage(after)) as JsonObject;
  const createdAt = new Date(after.updatedAtMs).toISOString();
  const events = shipmentEventTypes(before, after).map((type, i) => ({
    workspace: caller.workspaceId,
    subject: after.reference,
    number: after.eventCount + i + 1,
    type,
    data,
    actor: caller.member?.email ?? null,
    createdAt,
  }));
  for (const event of events) received.span?.setCauseOf(event);
  return { row: { ...after, eventCount: after.eventCount + events.length }, events };
}
