import type { JsonObject } from "@bufbuild/protobuf";
import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { EventType } from "../../domain/shipment/event-type.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * Trigger body: for each inserted event, inserts a delivery for every webhook that subscribes to its
 * type, in the same transaction. So every committed event has its deliveries, and nothing is sent
 * for a change that was rolled back.
 *
 * A delivery is due by the clock of the database, read while the event's subject is locked, so that
 * deliveries of one subject are due in the order of its events.
 */
const FAN_OUT = `
begin
  if new.type <> 'webhook.test' then
    insert into webhook_delivery
      (workspace_id, webhook_id, subject, number, type, created_at, next_attempt_at)
    select new.workspace_id, webhook.id, new.subject, new.number, new.type, new.created_at,
      clock_timestamp()
    from webhook
    where webhook.workspace_id = new.workspace_id and webhook.disabled_reason is null
      and webhook.id <> new.subject
      and (webhook.types @> array['*'] or webhook.types @> array[new.type])
    order by webhook.id;
  end if;
  return null;
end;`;

/**
 * A change of a shipment or a webhook, written in the transaction of the change and never updated.
 * Its key is the subject and a number within the subject.
 */
export const Event = defineEntity({
  name: "Event",
  tableName: "event",
  primaryKeys: ["workspace", "subject", "number"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** The shipment's reference, or the webhook's id. */
    subject: p.text().primary(),
    /** From 1 within the subject, without gaps. */
    number: p.integer().primary(),
    type: p.text().$type<EventType>(),
    /** The subject as the change left it, as protobuf JSON. */
    data: p.json().$type<JsonObject>(),
    createdAt: p.datetime(3),
    /** The email of the member who did it; null for a key, or nobody. */
    actor: p.text().nullable(),
    /**
     * The id of the transaction that wrote it, by which the feed is sorted. Once every transaction
     * up to this one has ended, no event can appear before this one.
     */
    transaction: p.bigint("number").defaultRaw("((pg_current_xact_id())::text)::bigint"),
  },
  indexes: [{ name: "event_feed", properties: ["workspace", "transaction", "subject", "number"] }],
  triggers: [
    { name: "deliver", timing: "after", events: ["insert"], forEach: "row", body: FAN_OUT },
  ],
  checks: [{ name: "event_number_counts_from_one", expression: "number >= 1" }],
});

export type Event = InferEntity<typeof Event>;
