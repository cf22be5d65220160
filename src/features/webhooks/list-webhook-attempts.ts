import { create } from "@bufbuild/protobuf";
import {
  ListWebhookAttemptsResponseSchema,
  type ListWebhookAttemptsRequestValid,
  type ListWebhookAttemptsResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { readRecordId } from "../../db/columns.ts";
import { refuse } from "../../domain/refusal.ts";
import { MAX_ATTEMPTS } from "../../domain/webhook/webhook-schedule.ts";
import type { Call } from "../../pipeline/call.ts";
import { loadWebhook, attemptMessage } from "./webhooks.ts";
import { WebhookAttempt } from "./webhook-attempt.entity.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";

/**
 * Lists the attempts at one delivery, oldest first.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND, DELIVERY_NOT_FOUND
 */
export async function listWebhookAttempts(
  request: ListWebhookAttemptsRequestValid,
  { caller: { workspaceId } }: Call,
  { em }: DatabaseDeps,
): Promise<ListWebhookAttemptsResponse> {
  const reading = em.fork();
  const webhook = await loadWebhook(reading, workspaceId, request.webhook);
  const id = readRecordId(request.delivery) ?? 0;
  const delivery = await reading.findOne(WebhookDelivery, { webhook, id });
  if (delivery === null) throw refuse("DELIVERY_NOT_FOUND");
  const attempts = await reading.find(
    WebhookAttempt,
    { delivery },
    { orderBy: { number: "asc" }, limit: MAX_ATTEMPTS },
  );
  return create(ListWebhookAttemptsResponseSchema, { data: attempts.map(attemptMessage) });
}
