import {
  WebhookService,
  type DeleteWebhookRequestValid,
  type DeleteWebhookResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { loadWebhook } from "./webhooks.ts";

/**
 * Deletes a webhook with its deliveries and their attempts.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND
 */
export async function deleteWebhook(
  request: DeleteWebhookRequestValid,
  call: Call,
  { em }: DatabaseDeps,
): Promise<DeleteWebhookResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(em, WebhookService.method.deleteWebhook, request, call, async (tx) => {
    tx.remove(await loadWebhook(tx, workspaceId, request.webhook, "lock"));
    await tx.flush();
    return {};
  });
}
