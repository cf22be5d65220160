import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";

export const WebhookAttempt = defineEntity({
  name: "WebhookAttempt",
  tableName: "webhook_attempt",
  primaryKeys: ["workspace", "delivery", "number"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    delivery: () =>
      p
        .manyToOne(WebhookDelivery)
        .primary()
        .joinColumns("workspace_id", "delivery_id")
        .ownColumns("delivery_id")
        .updateRule("no action")
        .deleteRule("cascade"),
    /** From 1 within the delivery. */
    number: p.integer().primary(),
    startedAt: p.datetime(3),
    durationMs: p.integer(),
    /** The HTTP status of the response; null when there was none. */
    status: p.integer().nullable(),
    /** Why there was no response; null when there was one. */
    error: p.text().nullable(),
    /** The first KiB of the response body. */
    answer: p.text().nullable(),
  },
});

export type WebhookAttempt = InferEntity<typeof WebhookAttempt>;
