import {
  WebhookService,
  type RedeliverEventRequestValid,
  type RedeliverEventResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { readEventId } from "../events/event-message.ts";
import { announceWorkspace } from "../events/event-announcer.ts";
import { Event } from "../events/event.entity.ts";
import { LATE_SECONDS } from "../events/insert-events.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { loadWebhook, type WebhookDeps, deliveryMessage } from "./webhooks.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import type { Webhook } from "./webhook.entity.ts";

/**
 * Sends any event of the workspace to a webhook again, with the same event id.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND, EVENT_NOT_FOUND, WEBHOOK_DISABLED
 */
export async function redeliverEvent(
  request: RedeliverEventRequestValid,
  call: Call,
  { em, now }: WebhookDeps,
): Promise<RedeliverEventResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(
    em,
    { method: WebhookService.method.redeliverEvent, request, call },
    async (tx) => {
      const webhook = await loadWebhook(tx, workspaceId, request.webhook, "lock");
      const event = await findEvent(tx, workspaceId, request.event);
      const delivery = await createDelivery(tx, webhook, event, now(), call);
      await announceWorkspace(tx, workspaceId);
      call.received.span?.setCauseOf(event);
      return { data: deliveryMessage(delivery) };
    },
  );
}

async function findEvent(em: EntityManager, workspace: number, id: string): Promise<Event> {
  const key = readEventId(id);
  const found = key && (await em.findOne(Event, { workspace, ...key }));
  if (!found) throw refuse("EVENT_NOT_FOUND");
  return found;
}

/**
 * Creates the delivery of an event to a webhook, whatever its types, in the caller's transaction. It
 * is due at once, unless the call simulates otherwise.
 *
 * @throws Refusal WEBHOOK_DISABLED
 */
export async function createDelivery(
  tx: EntityManager,
  webhook: Webhook,
  event: Pick<Event, "subject" | "number" | "type">,
  at: Date,
  { received }: Call,
): Promise<WebhookDelivery> {
  if (webhook.disabledReason) {
    throw refuse("WEBHOOK_DISABLED");
  }
  const { duplicated, reordered, failures = null } = received.simulation?.deliveryFaults ?? {};
  const row = {
    workspace: webhook.workspace,
    webhook,
    subject: event.subject,
    number: event.number,
    type: event.type,
    createdAt: at,
    nextAttemptAt: reordered ? new Date(at.getTime() + LATE_SECONDS * 1_000) : at,
    simulatedFailures: failures,
  };
  const delivery = tx.create(WebhookDelivery, row);
  if (duplicated) tx.create(WebhookDelivery, row);
  await tx.flush();
  return delivery;
}
