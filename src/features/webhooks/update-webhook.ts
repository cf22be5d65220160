import { create } from "@bufbuild/protobuf";
import {
  UpdateWebhookResponseSchema,
  WebhookService,
  type UpdateWebhookRequestValid,
  type UpdateWebhookResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { findWebhook } from "./find-webhook.ts";
import { refuseUrl, typesOf, type WebhookDeps } from "./webhook-deps.ts";
import { webhookMessage } from "./webhook-message.ts";

/**
 * Changes what is given of a webhook. Enabling it forgets earlier failures; deliveries that were
 * given up meanwhile stay so.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND, or FIELD_INVALID for the URL
 */
export async function updateWebhook(
  request: UpdateWebhookRequestValid,
  call: Call,
  deps: WebhookDeps,
): Promise<UpdateWebhookResponse> {
  const { workspaceId } = call.caller;
  const { url, types, enabled } = request;
  if (url !== undefined) refuseUrl(url, deps);
  return withIdempotency(
    deps.em,
    WebhookService.method.updateWebhook,
    request,
    call,
    async (tx) => {
      const webhook = await findWebhook(tx, workspaceId, request.webhook, "lock");
      if (url !== undefined) webhook.url = url;
      if (types.length > 0) webhook.types = typesOf(types);
      if (enabled === true) {
        webhook.disabledReason = null;
        webhook.failingSince = null;
      }
      if (enabled === false) webhook.disabledReason ??= "request";
      webhook.updatedAt = deps.now();
      const updated = webhook;
      await tx.flush();
      return create(UpdateWebhookResponseSchema, { data: webhookMessage(updated) });
    },
  );
}
