import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Event } from "../events/event.entity.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import type { Webhook } from "./webhook.entity.ts";

/**
 * Creates the delivery of an event to a webhook, whatever its types, in the caller's transaction. It
 * is due at once.
 *
 * @throws Refusal WEBHOOK_DISABLED
 */
export async function beginDelivery(
  tx: EntityManager,
  webhook: Webhook,
  event: Event,
  at: Date,
): Promise<WebhookDelivery> {
  if (webhook.disabledReason) {
    throw refuse("WEBHOOK_DISABLED", "The webhook is disabled; enable it first.", {
      subject: "webhook",
    });
  }
  const delivery = tx.create(WebhookDelivery, {
    workspace: webhook.workspace,
    webhook,
    subject: event.subject,
    number: event.number,
    type: event.type,
    createdAt: at,
    nextAttemptAt: at,
  });
  await tx.flush();
  return delivery;
}
