import type { JsonObject } from "@bufbuild/protobuf";
import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { EventType } from "../../domain/event-type.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { FAN_OUT } from "./fan-out.ts";

/**
 * Something that happened, written in the transaction that made it happen, and never changed. Told
 * apart by what it happened to and by its number there, so that an event needs no name of its own.
 */
export const Event = defineEntity({
  name: "Event",
  tableName: "event",
  primaryKeys: ["workspace", "subject", "number"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** The shipment's reference, or the webhook's id. */
    subject: p.text().primary(),
    /** Counts the subject's events from 1 without gaps. */
    number: p.integer().primary(),
    type: p.text().$type<EventType>(),
    /** The subject as the change left it, as protobuf JSON. */
    data: p.json().$type<JsonObject>(),
    createdAt: p.datetime(3),
    /**
     * The transaction that wrote it, by the database's count. The feed goes by it: once no
     * transaction up to this one is under way, no event can come before this one any more.
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
