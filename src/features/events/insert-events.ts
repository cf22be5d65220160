import type { JsonObject } from "@bufbuild/protobuf";
import { columnsOf, insertSql, type Row, rowsJson } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import type { EventType } from "../../domain/shipment/event-type.ts";
import { Event } from "./event.entity.ts";

/** What an event is about. */
interface Subject {
  readonly workspace: number;
  eventCount: number;
}

/**
 * Inserts an event with the caller's unit of work. The subject's row must be locked or new, so that
 * event numbers go up without gaps.
 *
 * @param name the subject's name, such as the webhook's id
 * @param event its `data` is the subject after the change, as protobuf JSON
 */
export function insertEvent(
  tx: EntityManager,
  subject: Subject,
  name: string,
  event: { readonly type: EventType; readonly data: JsonObject; readonly at: Date },
): Event {
  subject.eventCount += 1;
  return tx.create(Event, {
    workspace: subject.workspace,
    subject: name,
    number: subject.eventCount,
    type: event.type,
    data: event.data,
    createdAt: event.at,
  });
}

/** An event of a statement's own. */
export type NewEvent = Row<Event, "transaction">;

const COLUMNS = columnsOf(Event, "transaction");

/** What `insertEventsSql` inserts. */
export function eventsJson(events: readonly NewEvent[]): string {
  return rowsJson(COLUMNS, events);
}

/**
 * The statement that inserts events, for a transaction that writes their subjects by a statement of
 * its own, of which it can be the last part. Whoever runs it announces them after the commit.
 *
 * @param parameter the parameter, such as `$2`, that holds `eventsJson`
 */
export function insertEventsSql(parameter: string): string {
  return insertSql("event", COLUMNS, parameter);
}
