import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** Why nothing is sent to a webhook. */
export type DisabledReason = "request" | "gone" | "failing";

/**
 * A secret that is signed with until it ends, if it ends. Kept as it is, since signing needs it:
 * whoever reads this table can sign.
 */
export interface WebhookSecret {
  readonly secret: string;
  /** Milliseconds since the epoch; null for no end. */
  readonly endsAtMs: number | null;
}

/** An address of a workspace's that events are sent to. */
export const Webhook = defineEntity({
  name: "Webhook",
  tableName: "webhook",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    id: p.text().primary(),
    url: p.text(),
    /** The types of events that are sent; `*` for all of them. */
    types: p.array().$type<readonly string[]>(),
    /** The newest first. */
    secrets: p.json().$type<readonly WebhookSecret[]>(),
    /** Null while it is enabled. */
    disabledReason: p.text().$type<DisabledReason>().nullable(),
    /** When the first attempt failed since one succeeded; null while they succeed. */
    failingSince: p.datetime(3).nullable(),
    /** Counts what happened to it; the number of its last event. */
    eventCount: p.integer().default(0),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  checks: [
    {
      name: "webhook_disabled_reason",
      expression: "disabled_reason in ('request', 'gone', 'failing')",
    },
    { name: "webhook_types_given", expression: "cardinality(types) > 0" },
  ],
});

export type Webhook = InferEntity<typeof Webhook>;
