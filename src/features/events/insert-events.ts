import type { JsonObject } from "@bufbuild/protobuf";
import type { EntityManager } from "../../db/orm.ts";
import type { EventType } from "../../domain/event-type.ts";
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

/** An event, as `insertEventsSql` takes it in JSON. */
export interface NewEvent extends Omit<Event, "transaction" | "createdAt"> {
  /** RFC 3339. */
  readonly createdAt: string;
}

/**
 * The statement that inserts events, for a transaction that writes their subjects by a statement of
 * its own, of which it can be the last part. Whoever runs it announces them after the commit.
 *
 * @param parameter the parameter, such as `$2`, that holds a JSON list of `NewEvent`
 */
export function insertEventsSql(parameter: string): string {
  return `
    insert into event (workspace_id, subject, number, type, data, actor, created_at)
    select workspace, subject, number, type, data, actor, "createdAt"
    from json_to_recordset(${parameter}) as new (
      workspace bigint, subject text, number int, type text, data jsonb, actor text,
      "createdAt" timestamptz)`;
}
