import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";

/** One attempt at a delivery, and what came of it. */
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
    /** Counts the attempts of a delivery from 1. */
    number: p.integer().primary(),
    startedAt: p.datetime(3),
    durationMs: p.integer(),
    /** The HTTP status of the answer; null when there was none. */
    status: p.integer().nullable(),
    /** Why there was no answer. */
    error: p.text().nullable(),
    /** The first KiB of the answer's body. */
    answer: p.text().nullable(),
  },
});

export type WebhookAttempt = InferEntity<typeof WebhookAttempt>;
