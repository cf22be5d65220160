import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** Reason why a webhook is disabled: by request, after a 410 response, or after failing for too long. */
export type DisabledReason = "request" | "gone" | "failing";

export interface WebhookKey {
  readonly workspace: number;
  readonly webhook: string;
}

export interface WebhookSecret {
  /** Secret in plain text or sealed. Not hashed, because signing needs it. */
  readonly secret: string;
  /** Expiry in milliseconds since the epoch. null if the secret does not expire. */
  readonly endsAtMs: number | null;
}

export const Webhook = defineEntity({
  name: "Webhook",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    id: p.text().primary(),
    url: p.text(),
    /** Subscribed event types. `*` means all types. */
    types: p.array().$type<readonly string[]>(),
    /** Signing secrets, newest first. */
    secrets: p.json().$type<readonly WebhookSecret[]>(),
    /** null if the webhook is enabled. */
    disabledReason: p.text().$type<DisabledReason>().nullable(),
    /** Time of the first failed attempt since the last success. null while attempts succeed. */
    failingSince: p.datetime(3).nullable(),
    /** Number of the webhook's last event. */
    eventCount: p.integer().default(0),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  indexes: [
    // Index for the operators' list of failing webhooks in all workspaces.
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
