import type { JsonObject } from "@bufbuild/protobuf";
import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { CallerKey } from "../../pipeline/call.ts";
import type { EventType } from "../../domain/shipment/event-type.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

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
    /** The subject after the change, as protobuf JSON. */
    data: p.json().$type<JsonObject>(),
    createdAt: p.datetime(3),
    /** Email of the acting member. null for a key or the service. */
    actor: p.text().nullable(),
    /** The API key that made the change; null for a member or the service. */
    apiKey: p.json().$type<CallerKey>().nullable(),
    /** 1, 2, 3, ... in the workspace's feed, without gaps: given with the commit by `Feed`. */
    position: p.bigint("number"),
  },
  uniques: [{ name: "event_position", properties: ["workspace", "position"] }],
  checks: [{ name: "event_number_counts_from_one", expression: "number >= 1" }],
});

export type Event = InferEntity<typeof Event>;
