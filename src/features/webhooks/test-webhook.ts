import { toJson, type JsonObject } from "@bufbuild/protobuf";
import { WebhookSchema } from "../../../gen/shipments/v1/webhook_pb.js";
import {
  WebhookService,
  type TestWebhookRequestValid,
  type TestWebhookResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import { announceWorkspace } from "../events/event-announcer.ts";
import { insertEvents, nextEvent } from "../events/insert-events.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { createDelivery } from "./redeliver-event.ts";
import { loadWebhook, type WebhookDeps, deliveryMessage, webhookMessage } from "./webhooks.ts";

/**
 * Sends a `webhook.test` event to a webhook.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND, WEBHOOK_DISABLED
 */
export async function testWebhook(
  request: TestWebhookRequestValid,
  call: Call,
  { em, now }: WebhookDeps,
): Promise<TestWebhookResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(
    em,
    { method: WebhookService.method.testWebhook, request, call },
    async (tx) => {
      const webhook = await loadWebhook(tx, workspaceId, request.webhook, "lock");
      const at = now();
      const data = toJson(WebhookSchema, webhookMessage(webhook)) as JsonObject;
      const event = nextEvent(webhook, webhook.id, { type: "webhook.test", data, at });
      const delivery = await createDelivery(tx, webhook, event, at, call);
      await insertEvents(tx, workspaceId, [event]);
      await announceWorkspace(tx, workspaceId);
      call.received.span?.setCauseOf({ ...event, workspace: workspaceId });
      return { data: deliveryMessage(delivery) };
    },
  );
}
