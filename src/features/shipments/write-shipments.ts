import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { columnsOf, insertSql, rowsJson } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { shipmentEventTypes } from "../../domain/shipment/event-type.ts";
import type { ShipmentState } from "../../domain/shipment/shipment-state.ts";
import {
  customersJson,
  type LinkedCustomers,
  writeCustomersSql,
} from "../customers/link-customers.ts";
import {
  eventsOfSeveralJson,
  insertEventsOfSeveralSql,
  type NewEvent,
} from "../events/insert-events.ts";
import type { Call } from "../../pipeline/call.ts";
import { shipmentMessage } from "./shipment-message.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { Shipment } from "./shipment.entity.ts";

/** A shipment that is new or has changed. */
export interface ChangedShipment extends RecordedChange {
  readonly workspace: number;
  /** Of one that is new: whether the booking named the price that had been quoted for it. */
  readonly quoted?: boolean;
}

const COLUMNS = columnsOf(Shipment);

/** All but what a shipment keeps from its booking. */
const CHANGING = columnsOf(
  Shipment,
  "workspace",
  "reference",
  "createdBy",
  "createdAt",
  "externalReference",
  "quoted",
);

/**
 * The condition on the version always holds: with it PostgreSQL expects one row instead of 100, for
 * which it would read all of a table of some ten thousand shipments.
 */
const UPDATE = `
  with updated as (
    update shipment as s
    set ${CHANGING.map(({ name }) => `${name} = written.${name}`).join(", ")}
    from json_populate_recordset(null::shipment, $1) as written
    where s.workspace_id = written.workspace_id and s.reference = written.reference
      and written.version between 0 and 2147483647
  )
  ${insertEventsOfSeveralSql("$2")}`;

const INSERT = `
  with inserted as (${insertSql("shipment", COLUMNS, "$1")}),
    customers as (${writeCustomersSql("$3")})
  ${insertEventsOfSeveralSql("$2")}`;

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
  customers: LinkedCustomers["written"],
): Promise<void> {
  if (booked.length === 0) return;
  await runStatement(tx, INSERT, [...valuesOf(booked), customersJson(customers)]);
}

/** The shipments and their events. */
function valuesOf(written: readonly ChangedShipment[]): string[] {
  const rows = written.map(({ workspace, quoted = false, row }) => {
    return { ...row, workspace, quoted, customer: row.customer.id };
  });
  return [rowsJson(COLUMNS, rows), eventsOfSeveralJson(written.flatMap(({ events }) => events))];
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
  const events = shipmentEventTypes(before, after).map((type, i) => ({
    workspace: caller.workspaceId,
    subject: after.reference,
    number: after.eventCount + i + 1,
    type,
    data,
    actor: caller.member?.email ?? null,
    createdAt: after.updatedAt,
  }));
  for (const event of events) received.span?.setCauseOf(event);
  return { row: { ...after, eventCount: after.eventCount + events.length }, events };
}
