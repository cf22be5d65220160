import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { EventType } from "../../domain/shipment/event-type.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { Webhook } from "./webhook.entity.ts";
import type { EntityManager } from "../../db/orm.ts";
import { deleteOldest } from "../../db/statement.ts";

export type DeliveryStatus = "pending" | "delivered" | "failed";

/** Delivery of one event to one webhook, in one or more attempts. */
export const WebhookDelivery = defineEntity({
  name: "WebhookDelivery",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    id: p.bigint("number").primary().autoincrement(),
    webhook: () =>
      p
        .manyToOne(Webhook)
        .joinColumns("workspace_id", "webhook_id")
        .ownColumns("webhook_id")
        .updateRule("no action")
        .deleteRule("cascade"),
    /** Subject of the event. Together with `number`, it identifies the event in the workspace. */
    subject: p.text(),
    number: p.integer(),
    type: p.text().$type<EventType>(),
    status: p.text().$type<DeliveryStatus>().default("pending"),
    attempts: p.integer().default(0),
    /** Number of initial attempts that fail without a request. Set only by test keys, otherwise null. */
    simulatedFailures: p.integer().nullable(),
    nextAttemptAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    /** Time of success or final failure. */
    endedAt: p.datetime(3).nullable(),
  },
  indexes: [
    // `webhook` covers two columns: the workspace and the webhook's id.
    { name: "webhook_delivery_by_age", properties: ["webhook", "id"] },
    { name: "webhook_delivery_by_status", properties: ["webhook", "status", "id"] },
    { name: "webhook_delivery_by_end", properties: ["endedAt"] },
    // Finds the next due delivery of each webhook, and the next webhook with a pending delivery.
    {
      name: "webhook_delivery_due",
      properties: ["webhook", "nextAttemptAt", "id"],
      where: "status = 'pending'",
    },
  ],
  checks: [
    { name: "webhook_delivery_status", expression: "status in ('pending', 'delivered', 'failed')" },
    {
      name: "webhook_delivery_pending_or_ended",
      expression: "(status = 'pending') = (ended_at is null) and (status = 'pending') = (next_attempt_at is not null)",
    },
  ],
});

export type WebhookDelivery = InferEntity<typeof WebhookDelivery>;

/** Retention of ended deliveries and their attempts, 30 days in milliseconds. */
const RETENTION_MS = 30 * 24 * 60 * 60 * 1_000;

/** Deletes deliveries that ended before the retention period. Returns the number of deleted rows. */
export function purgeDeliveries(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - RETENTION_MS);
  return deleteOldest(em, "webhook_delivery", "ended_at", "$1", [before]);
}
