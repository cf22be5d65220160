import { create } from "@bufbuild/protobuf";
import {
  DeleteWebhookResponseSchema,
  type DeleteWebhookRequestValid,
  type DeleteWebhookResponse,
} from "../../gen/shipments/v1/webhook_service_pb.js";
import type { EntityManager } from "../db/orm.ts";
import type { Call } from "../rpc/caller.ts";
import { findWebhook } from "./find-webhook.ts";

/**
 * Removes a webhook with its deliveries and their attempts. Jobs that are left find nothing to do.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND
 */
export async function deleteWebhook(
  request: DeleteWebhookRequestValid,
  { caller }: Call,
  em: EntityManager,
): Promise<DeleteWebhookResponse> {
  await em.fork().transactional(async (tx) => {
    tx.remove(await findWebhook(tx, caller.workspaceId, request.webhook, "lock"));
  });
  return create(DeleteWebhookResponseSchema);
}
