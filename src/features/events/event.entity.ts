import type { JsonObject } from "@bufbuild/protobuf";
import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { CallerCourier, CallerKey } from "../../pipeline/call.ts";
import type { EventType } from "../../domain/shipment/event-type.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/**
 * A change to a shipment or webhook, written in the same transaction and never updated. The key consists of the subject
 * and a number within the subject.
 */
export const Event = defineEntity({
  name: "Event",
  primaryKeys: ["workspace", "subject", "number"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    /** The shipment's reference or the webhook's id. */
    subject: p.text().primary(),
    /** Number of the event within the subject, from 1, without gaps. */
    number: p.integer().primary(),
    type: p.text().$type<EventType>(),
    /** The subject after the change, as protobuf JSON. */
    data: p.json().$type<JsonObject>(),
    createdAt: p.datetime(3),
    /** Email of the member who made the change. null for other callers. */
    actor: p.text().nullable(),
    /** API key that made the change. null for other callers. */
    apiKey: p.json().$type<CallerKey>().nullable(),
    /** Courier who made the change with a link. null for other callers. */
    courier: p.json().$type<CallerCourier>().nullable(),
    /** Position in the workspace's feed: 1, 2, 3, ..., without gaps. Assigned from `Feed` in the order of commits. */
    position: p.bigint("number"),
  },
  uniques: [{ name: "event_position", properties: ["workspace", "position"] }],
  checks: [{ name: "event_number_counts_from_one", expression: "number >= 1" }],
});

export type Event = InferEntity<typeof Event>;
