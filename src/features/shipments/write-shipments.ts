import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { columnsOf, insertionOf, rowsJson, rowValues } from "../../db/columns.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { EventType } from "../../domain/shipment/event-type.ts";
import { dueRecipientMails } from "../../domain/shipment/recipient-mail.ts";
import { customerStatements, type LinkedCustomers } from "../customers/link-customers.ts";
import { eventStatements, type NewEvent, type Subscriber } from "../events/insert-events.ts";
import { UsedQuote } from "../quotes/used-quote.entity.ts";
import type { Call } from "../../pipeline/call.ts";
import { type NewRecipientMail, recipientMailStatements } from "./recipient-mail.entity.ts";
import { shipmentEventMessage } from "./shipment-message.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { Shipment } from "./shipment.entity.ts";

export interface ChangedShipment extends RecordedChange {
  /** Whether the booking named a quote or an expected price. Only for new shipments. */
  readonly quoted?: boolean;
}

const COLUMNS = columnsOf(Shipment, "workspace");

const CHANGING = columnsOf(
  Shipment,
  "workspace",
  "reference",
  "createdBy",
  "createdAt",
  "externalReference",
  "quoteId",
  "quoted",
);

/**
 * Updates several shipments. The condition on the version is always true. It makes PostgreSQL expect one row instead of
 * 100. For 100 rows, PostgreSQL would scan the whole table if it has up to about ten thousand shipments.
 */
const UPDATE_SEVERAL = `
  update shipment as s
  set ${CHANGING.map(({ name }) => `${name} = written.${name}`).join(", ")}
  from json_populate_recordset(null::shipment, $2) as written
  where s.workspace_id = $1 and s.reference = written.reference
    and written.version between 0 and 2147483647`;

/** Updates one shipment. Uses separate parameters, because parsing JSON makes the statement a third slower. */
const UPDATE_ONE = `
  update shipment set ${CHANGING.map(({ name }, i) => `${name} = $${i + 3}`).join(", ")}
  where workspace_id = $1 and reference = $2`;

const insertion = insertionOf(
  "shipment",
  // Omits columns that are null in every new shipment.
  columnsOf(Shipment, "workspace", "paymentDetails", "progress", "deliveredAt", "returnedAt"),
);
const usage = insertionOf("used_quote", columnsOf(UsedQuote, "workspace"));

export function updateShipments(tx: Transaction, workspace: number, changed: readonly ChangedShipment[]): void {
  if (changed.length === 1) {
    const row = toColumns(changed[0]!);
    void tx.send(UPDATE_ONE, [workspace, row.reference, ...rowValues(CHANGING, row)]);
  } else {
    void tx.send(UPDATE_SEVERAL, [workspace, rowsJson(COLUMNS, changed.map(toColumns))]);
  }
}

/**
 * Queues inserts of a workspace's new shipments and their used quotes, and changes of their customers. Uses
 * statements, because MikroORM's unit of work would take longer than the rest of a booking.
 *
 * @param usedAt real time, like the creation of quote keys. A test clock can be days behind.
 */
export function insertShipments(
  tx: Transaction,
  workspace: number,
  booked: readonly ChangedShipment[],
  customers: LinkedCustomers["changed"],
  usedAt: Date,
): void {
  for (const statement of customerStatements(workspace, customers)) void tx.send(...statement);
  void tx.send(...insertion(workspace, booked.map(toColumns)));
  const used = booked.flatMap(({ row: { quoteId, reference } }) =>
    quoteId === null ? [] : [{ quoteId, reference, usedAt }],
  );
  if (used.length > 0) void tx.send(...usage(workspace, used));
}

function toColumns({ quoted = false, row }: ChangedShipment) {
  return { ...row, quoted, customer: row.customer.id };
}

/** Queues the events and recipient emails of changed shipments. They are sent last in the transaction. */
export function insertEventsOf(
  tx: Transaction,
  workspace: number,
  changed: readonly ChangedShipment[],
  subscribers: readonly Subscriber[] | null,
): void {
  const events = changed.flatMap((each) => each.events);
  if (events.length === 0) return;
  const mails = changed.flatMap((each) => each.recipientMails);
  for (const statement of eventStatements(workspace, events, subscribers)) tx.sendLast(...statement);
  for (const statement of recipientMailStatements(workspace, mails)) tx.sendLast(...statement);
}

export interface RecordedChange {
  /** Row with the new events included in `eventCount`. */
  readonly row: ShipmentRow;
  readonly events: readonly NewEvent[];
  readonly recipientMails: readonly NewRecipientMail[];
}

/**
 * Creates the events of a shipment. The shipment must be locked or new, so that event numbers have no gaps.
 *
 * @param types event types
 * @param before `undefined` for a new shipment
 * @param after row to write, with `eventCount` before these events
 * @param call call that makes the change
 */
export function shipmentEvents(
  types: readonly EventType[],
  before: ShipmentRow | undefined,
  after: ShipmentRow,
  { caller, received }: Call,
): RecordedChange {
  if (types.length === 0) return { row: after, events: [], recipientMails: [] };
  const data = toJson(ShipmentSchema, shipmentEventMessage(after, caller)) as JsonObject;
  const { member, key, courier, workspaceId } = caller;
  const events = types.map((type, i) => ({
    subject: after.reference,
    number: after.eventCount + i + 1,
    type,
    data,
    actor: member?.email ?? null,
    apiKey: key ?? null,
    courier: courier ?? null,
    createdAt: after.updatedAt,
    deliveryFaults: received.simulation?.deliveryFaults,
  }));
  for (const event of events) received.span?.setCauseOf({ ...event, workspace: workspaceId });
  const isNotified = caller.notifiesRecipients && after.recipientEmail !== null;
  const recipientMails = isNotified
    ? dueRecipientMails(types, before, after).map((due) => ({ shipment: after.reference, ...due }))
    : [];
  return {
    row: { ...after, eventCount: after.eventCount + events.length },
    events,
    recipientMails,
  };
}
