import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";

export const WebhookAttempt = defineEntity({
  name: "WebhookAttempt",
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
    /** Number of the attempt within the delivery, from 1. */
    number: p.integer().primary(),
    startedAt: p.datetime(3),
    durationMs: p.integer(),
    /** HTTP status of the response. null without a response. */
    status: p.integer().nullable(),
    /** Reason for a missing response. null if there is a response. */
    error: p.text().nullable(),
    /** First KiB of the response body. */
    answer: p.text().nullable(),
  },
});

export type WebhookAttempt = InferEntity<typeof WebhookAttempt>;
