import type { JsonObject } from "@bufbuild/protobuf";
import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { EventType } from "../../domain/event-type.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { FAN_OUT } from "./fan-out.ts";

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
