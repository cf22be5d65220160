import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** Reason for disabling a webhook: by its owner, by a 410 response, or by failing for too long. */
export type DisabledReason = "request" | "gone" | "failing";

export interface WebhookKey {
  readonly workspace: number;
  readonly webhook: string;
}

/** An active signing secret, possibly with an end. */
export interface WebhookSecret {
  /** In plain text or sealed, not hashed, because signing needs it. */
  readonly secret: string;
  /** Milliseconds since the epoch. null without an end. */
  readonly endsAtMs: number | null;
}

/** A URL of a workspace that receives events. */
export const Webhook = defineEntity({
  name: "Webhook",
  tableName: "webhook",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    id: p.text().primary(),
    url: p.text(),
    /** Subscribed event types. `*` for all. */
    types: p.array().$type<readonly string[]>(),
    /** Newest first. */
    secrets: p.json().$type<readonly WebhookSecret[]>(),
    /** null while it is enabled. */
    disabledReason: p.text().$type<DisabledReason>().nullable(),
    /** Time of the first failed attempt since the last success. null while attempts succeed. */
    failingSince: p.datetime(3).nullable(),
    /** Number of its last event. */
    eventCount: p.integer().default(0),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  indexes: [
    // Across workspaces, for the operators' list of failing webhooks.
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
