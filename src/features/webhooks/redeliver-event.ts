import { create } from "@bufbuild/protobuf";
import {
  RedeliverEventResponseSchema,
  WebhookService,
  type RedeliverEventRequestValid,
  type RedeliverEventResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { readEventId } from "../events/event-id.ts";
import { announceWorkspace } from "../events/event-announcer.ts";
import { Event } from "../events/event.entity.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { beginDelivery } from "./begin-delivery.ts";
import { findWebhook } from "./load-webhook.ts";
import type { WebhookDeps } from "./webhook-deps.ts";
import { deliveryMessage } from "./webhook-message.ts";

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
  return withIdempotency(em, WebhookService.method.redeliverEvent, request, call, async (tx) => {
    const webhook = await findWebhook(tx, workspaceId, request.webhook);
    const event = await findEvent(tx, workspaceId, request.event);
    const delivery = await beginDelivery(tx, webhook, event, now());
    await announceWorkspace(tx, workspaceId);
    call.received.span?.setCauseOf(event);
    return create(RedeliverEventResponseSchema, { data: deliveryMessage(delivery) });
  });
}

async function findEvent(em: EntityManager, workspace: number, id: string): Promise<Event> {
  const key = readEventId(id);
  const found = key && (await em.findOne(Event, { workspace, ...key }));
  if (!found) throw refuse("EVENT_NOT_FOUND", "There is no such event.");
  return found;
}
