import type { JsonObject } from "@bufbuild/protobuf";
import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { EventType } from "../../domain/shipment/event-type.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * Trigger body for an event that comes without a position, as from replicas of the release before: gives
 * it the next one, and inserts a delivery for every webhook that subscribes to its type. Whoever inserts
 * events with positions inserts their deliveries too. A workspace that such a replica has made has no
 * feed yet.
 *
 * A delivery is due by the clock of the database, read while the event's subject is locked, so that
 * deliveries of one subject are due in the order of its events.
 */
const TAKE_POSITION = `
begin
  insert into feed (workspace_id, position, changed_at)
  values (new.workspace_id, 1, clock_timestamp())
  on conflict (workspace_id)
    do update set position = feed.position + 1, changed_at = excluded.changed_at
  returning position into new.position;
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
  return new;
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
    /** The email of the member who did it; null for a key, or the service. */
    actor: p.text().nullable(),
    /** 1, 2, 3, ... in the workspace's feed, without gaps: given with the commit by `Feed`. */
    position: p.bigint("number"),
    /**
     * The id of the transaction that wrote it. For replicas of the release before, which sort the feed
     * by it, as is the index `event_feed`: the next release drops both, and the trigger.
     */
    transaction: p.bigint("number").defaultRaw("((pg_current_xact_id())::text)::bigint"),
  },
  indexes: [{ name: "event_feed", properties: ["workspace", "transaction", "subject", "number"] }],
  uniques: [{ name: "event_position", properties: ["workspace", "position"] }],
  triggers: [
    {
      name: "take_position",
      timing: "before",
      events: ["insert"],
      forEach: "row",
      when: "new.position is null",
      body: TAKE_POSITION,
    },
  ],
  checks: [{ name: "event_number_counts_from_one", expression: "number >= 1" }],
});

export type Event = InferEntity<typeof Event>;
