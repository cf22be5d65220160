import type { JsonObject } from "@bufbuild/protobuf";
import { columnsOf, insertionOf, namesOf, rowsJson, type Row } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement, type Statement } from "../../db/statement.ts";
import type { EventType } from "../../domain/shipment/event-type.ts";
import type { DeliveryFaults } from "../../pipeline/call.ts";
import { Event } from "./event.entity.ts";

interface Subject {
  eventCount: number;
}

export interface NewEvent extends Row<Event, "workspace" | "position"> {
  /** Faults to simulate in deliveries of the event. Only in test mode. */
  readonly deliveryFaults?: DeliveryFaults | undefined;
}

/**
 * Creates the next event of a subject and increases the subject's event count. The subject's row
 * must be locked or new, so that event numbers have no gaps.
 *
 * @param name the subject's name, such as the webhook's id
 * @param event `data` is the subject after the change, as protobuf JSON
 */
export function nextEvent(
  subject: Subject,
  name: string,
  event: { readonly type: EventType; readonly data: JsonObject; readonly at: Date },
): NewEvent {
  subject.eventCount += 1;
  return {
    subject: name,
    number: subject.eventCount,
    type: event.type,
    data: event.data,
    actor: null,
    apiKey: null,
    courier: null,
    createdAt: event.at,
  };
}

/** An enabled webhook and its subscribed event types. */
export interface Subscriber {
  readonly id: string;
  readonly types: readonly string[];
}

/** SQL for the subscribers of workspace `$1` as JSON. null if there are none. */
export const SUBSCRIBERS = `(
  select json_agg(json_build_object('id', id, 'types', types) order by id)
  from webhook where workspace_id = $1 and disabled_reason is null)`;

const COLUMNS = columnsOf(Event, "workspace");

/**
 * Increases the end of a workspace's feed. From this statement to the commit, other writers of the
 * workspace wait, so that positions have no gaps.
 */
const RAISE = `
  insert into feed (workspace_id, position, changed_at) values ($1, $2, statement_timestamp())
  on conflict (workspace_id)
    do update set position = feed.position + excluded.position, changed_at = excluded.changed_at`;

/** Inserts events with consecutive positions up to the feed's new end. */
const INSERT = `
  insert into event (workspace_id, ${namesOf(COLUMNS)})
  select feed.workspace_id, ${COLUMNS.map(({ name }) => (name === "position" ? "feed.position - $3 + written.position" : `written.${name}`)).join(", ")}
  from feed cross join json_populate_recordset(null::event, $2) as written
  where feed.workspace_id = $1`;

/** Delay, in seconds, of deliveries that are simulated as out of order, so that later events overtake them. */
export const LATE_SECONDS = 10;

/**
 * Returns SQL that inserts deliveries. The deliveries of one subject are due in the order of its
 * events, because the subject is locked.
 */
const deliveryInsertion = (due: string) =>
  insertionOf(
    "webhook_delivery",
    ["webhook_id", "subject", "number", "type", "created_at", "simulated_failures"].map((name) => ({
      property: name,
      name,
    })),
    // Computed explicitly, because the shards of a distributed table have no default for it.
    { computed: { id: "nextval('webhook_delivery_id_seq')", next_attempt_at: due } },
  );

const insertDeliveries = deliveryInsertion("statement_timestamp()");
const insertLateDeliveries = deliveryInsertion(`statement_timestamp() + interval '${LATE_SECONDS} s'`);

/**
 * Returns the statements that insert events of a workspace, with a delivery to each subscriber of the event's type.
 * They must follow all changes of shipments, because they lock the feed until the commit. The caller must announce the
 * workspace.
 */
export function eventStatements(
  workspace: number,
  events: readonly NewEvent[],
  subscribers: readonly Subscriber[] | null,
): Statement[] {
  const { late = [], inTime = [] } = Object.groupBy(events, ({ deliveryFaults }) =>
    deliveryFaults?.reordered ? "late" : "inTime",
  );
  const rows = events.map((event, i) => ({ ...event, position: i + 1 }));
  const toDeliveries = (event: NewEvent) => deliveriesOf(event, subscribers ?? []);
  const deliveries = inTime.flatMap(toDeliveries);
  const lateDeliveries = late.toReversed().flatMap(toDeliveries);
  return [
    [RAISE, [workspace, rows.length]],
    [INSERT, [workspace, rowsJson(COLUMNS, rows), rows.length]],
    ...(deliveries.length === 0 ? [] : [insertDeliveries(workspace, deliveries)]),
    ...(lateDeliveries.length === 0 ? [] : [insertLateDeliveries(workspace, lateDeliveries)]),
  ];
}

/**
 * Returns the deliveries of an event. Excludes `webhook.test`, which `TestWebhook` delivers only to
 * the tested webhook.
 */
function deliveriesOf(
  { subject, number, type, createdAt, deliveryFaults }: NewEvent,
  subscribers: readonly Subscriber[],
) {
  if (type === "webhook.test") return [];
  const deliveries = subscribers
    .filter(({ id, types }) => id !== subject && (types.includes("*") || types.includes(type)))
    .map(({ id }) => ({
      webhook_id: id,
      subject,
      number,
      type,
      created_at: createdAt,
      simulated_failures: deliveryFaults?.failures ?? null,
    }));
  return deliveryFaults?.duplicated ? [...deliveries, ...deliveries] : deliveries;
}

/**
 * Inserts events of a workspace and their deliveries. Other transactions that write events in the workspace then wait
 * for this transaction to end.
 */
export async function insertEvents(tx: EntityManager, workspace: number, events: readonly NewEvent[]): Promise<void> {
  const sql = `select ${SUBSCRIBERS} as subscribers`;
  const [row] = await runStatement<{ subscribers: Subscriber[] | null }>(tx, sql, [workspace]);
  for (const [statement, values] of eventStatements(workspace, events, row!.subscribers)) {
    await runStatement(tx, statement, values);
  }
}
