import { create } from "@bufbuild/protobuf";
import {
  GetWebhookResponseSchema,
  type GetWebhookRequestValid,
  type GetWebhookResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import { loadWebhook, webhookMessage } from "./webhooks.ts";

/**
 * Gives one webhook of the workspace.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND
 */
export async function getWebhook(
  request: GetWebhookRequestValid,
  { caller }: Call,
  { em }: DatabaseDeps,
): Promise<GetWebhookResponse> {
  const webhook = await loadWebhook(em.fork(), caller.workspaceId, request.webhook);
  return create(GetWebhookResponseSchema, { data: webhookMessage(webhook) });
}
