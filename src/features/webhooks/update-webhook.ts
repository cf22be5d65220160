import {
  WebhookService,
  type UpdateWebhookRequestValid,
  type UpdateWebhookResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { loadWebhook, type WebhookDeps, webhookMessage } from "./webhooks.ts";
import { toStoredTypes, toStoredUrl } from "./create-webhook.ts";

/**
 * Changes the fields that are given. Enabling a webhook clears its failures; deliveries that failed
 * meanwhile are not resumed.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND, FIELD_INVALID for the URL
 */
export async function updateWebhook(
  request: UpdateWebhookRequestValid,
  call: Call,
  deps: WebhookDeps,
): Promise<UpdateWebhookResponse> {
  const { workspaceId } = call.caller;
  const { types, clear, enabled } = request;
  const url = request.url === undefined ? undefined : toStoredUrl(request.url, deps);
  const method = WebhookService.method.updateWebhook;
  return withIdempotency(deps.em, { method, request, call }, async (tx) => {
    const webhook = await loadWebhook(tx, workspaceId, request.webhook, "lock");
    if (url !== undefined) webhook.url = url;
    if (types.length > 0 || clear.includes("types")) webhook.types = toStoredTypes(types);
    if (enabled === true) {
      webhook.disabledReason = null;
      webhook.failingSince = null;
    }
    if (enabled === false) webhook.disabledReason ??= "request";
    webhook.updatedAt = deps.now();
    await tx.flush();
    return { data: webhookMessage(webhook) };
  });
}
