import type { JsonObject } from "@bufbuild/protobuf";
import { columnsOf, insertSql, namesOf, type Row, rowsJson } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { EventType } from "../../domain/shipment/event-type.ts";
import { Event } from "./event.entity.ts";

/** What an event is about. */
interface Subject {
  readonly workspace: number;
  eventCount: number;
}

/** An event that is not written yet. */
export type NewEvent = Row<Event, "position" | "transaction">;

/**
 * The next event of a subject, which it counts. The subject's row must be locked or new, so that event
 * numbers go up without gaps.
 *
 * @param name the subject's name, such as the webhook's id
 * @param event its `data` is the subject after the change, as protobuf JSON
 */
export function nextEvent(
  subject: Subject,
  name: string,
  event: { readonly type: EventType; readonly data: JsonObject; readonly at: Date },
): NewEvent {
  subject.eventCount += 1;
  return {
    workspace: subject.workspace,
    subject: name,
    number: subject.eventCount,
    type: event.type,
    data: event.data,
    actor: null,
    createdAt: event.at,
  };
}

const COLUMNS = columnsOf(Event, "workspace", "position", "transaction");
const NAMES = namesOf(COLUMNS);

/** The events of one workspace for `insertEventsSql`, in the order of their positions. */
export function eventsJson(events: readonly NewEvent[]): string {
  return rowsJson(COLUMNS, events);
}

/**
 * The end of a `with`: gives events of one workspace the next positions in its feed, and inserts them and
 * a delivery of each for every webhook that subscribes to its type. Its subjects are locked by an
 * earlier statement, or new, so that deliveries of one subject are due in the order of its events.
 * Whoever runs it announces the workspace.
 *
 * @param workspace the parameter, such as `$1`, that holds the workspace
 * @param events the parameter that holds `eventsJson`, of one event at least
 */
export function insertEventsSql(workspace: string, events: string): string {
  return `
    raised as (
      insert into feed (workspace_id, position, changed_at)
      values (${workspace}, json_array_length(${events}), statement_timestamp())
      on conflict (workspace_id)
        do update set position = feed.position + excluded.position, changed_at = excluded.changed_at
      returning position - json_array_length(${events}) as before
    ), inserted_events as (
      insert into event (workspace_id, position, ${NAMES})
      select ${workspace}, raised.before + written.ordinal, ${COLUMNS.map(({ name }) => `of.${name}`).join(", ")}
      from raised,
        json_array_elements(${events}) with ordinality as written (event, ordinal),
        json_populate_record(null::event, written.event) as of
      returning workspace_id, position, subject, number, type, created_at
    )
    insert into webhook_delivery
      (workspace_id, webhook_id, subject, number, type, created_at, next_attempt_at)
    select event.workspace_id, webhook.id, event.subject, event.number, event.type, event.created_at,
      statement_timestamp()
    from inserted_events as event
    join webhook on webhook.workspace_id = event.workspace_id
      and webhook.disabled_reason is null and webhook.id <> event.subject
      and (webhook.types @> array['*'] or webhook.types @> array[event.type])
    where event.type <> 'webhook.test'
    order by event.position, webhook.id`;
}

const INSERT = `with ${insertEventsSql("$1", "$2")}`;

/**
 * Writes events of one workspace, and their deliveries. From now on others who write events there wait
 * for the end of the transaction.
 */
export async function insertEvents(
  tx: EntityManager,
  workspace: number,
  events: readonly NewEvent[],
): Promise<void> {
  await runStatement(tx, INSERT, [workspace, eventsJson(events)]);
}

const COLUMNS_WITH_WORKSPACE = columnsOf(Event, "position", "transaction");

/** The events of several workspaces for `insertEventsOfSeveralSql`, in the order in which feeds are locked. */
export function eventsOfSeveralJson(events: readonly NewEvent[]): string {
  const ordered = events.toSorted((a, b) => a.workspace - b.workspace);
  return rowsJson(COLUMNS_WITH_WORKSPACE, ordered);
}

/**
 * The statement that inserts events of several workspaces, whose positions and deliveries the trigger of
 * the table adds.
 *
 * @param events the parameter, such as `$2`, that holds `eventsOfSeveralJson`
 */
export function insertEventsOfSeveralSql(events: string): string {
  return insertSql("event", COLUMNS_WITH_WORKSPACE, events);
}
