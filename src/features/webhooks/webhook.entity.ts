import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** Why a webhook is disabled: by its owner, by a 410 response, or by failing for too long. */
export type DisabledReason = "request" | "gone" | "failing";

export interface WebhookKey {
  readonly workspace: number;
  readonly webhook: string;
}

/** A secret that signs until it ends, if it ends. */
export interface WebhookSecret {
  /** As it is, or sealed, since signing needs it. */
  readonly secret: string;
  /** Milliseconds since the epoch; null for no end. */
  readonly endsAtMs: number | null;
}

/** A URL of a workspace to which events are sent. */
export const Webhook = defineEntity({
  name: "Webhook",
  tableName: "webhook",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    id: p.text().primary(),
    url: p.text(),
    /** The event types that are sent; `*` for all. */
    types: p.array().$type<readonly string[]>(),
    /** Newest first. */
    secrets: p.json().$type<readonly WebhookSecret[]>(),
    /** Null while it is enabled. */
    disabledReason: p.text().$type<DisabledReason>().nullable(),
    /** When the first attempt failed after the last success; null while attempts succeed. */
    failingSince: p.datetime(3).nullable(),
    /** The number of its last event. */
    eventCount: p.integer().default(0),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  indexes: [
    // Of all workspaces, for what operators have to look at.
    { name: "webhook_failing", properties: ["failingSince"], where: "failing_since is not null" },
  ],
  checks: [
    {
      name: "webhook_disabled_reason",
      expression: "disabled_reason in ('request', 'gone', 'failing')",
    },
    { name: "webhook_types_given", expression: "cardinality(types) > 0" },
  ],
});

export type Webhook = InferEntity<typeof Webhook>;
