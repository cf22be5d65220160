import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Webhook } from "./webhook.entity.ts";

/** Lease of the process that sends a webhook's deliveries. Expires if the process dies. */
export const WebhookLease = defineEntity({
  name: "WebhookLease",
  primaryKeys: ["workspace", "webhook"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    webhook: () =>
      p
        .manyToOne(Webhook)
        .primary()
        .joinColumns("workspace_id", "webhook_id")
        .ownColumns("webhook_id")
        .updateRule("no action")
        .deleteRule("cascade"),
    /** Unique id of the process. */
    worker: p.text(),
    leasedUntil: p.datetime(3),
  },
});

export type WebhookLease = InferEntity<typeof WebhookLease>;
