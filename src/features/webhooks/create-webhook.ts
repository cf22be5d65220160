import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import {
  CreateWebhookResponseSchema,
  WebhookService,
  type CreateWebhookRequestValid,
  type CreateWebhookResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { MAX_WEBHOOKS } from "../../domain/limits.ts";
import { refuse } from "../../domain/refusal.ts";
import { mintWebhookSecret } from "../../domain/webhook/webhook-signature.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import type { WebhookDeps } from "./webhook-deps.ts";
import { webhookMessage } from "./webhook-message.ts";
import { storedTypes, storedUrl } from "./webhook-request.ts";
import { storedSecret } from "./webhook-secrets.ts";
import { Webhook } from "./webhook.entity.ts";

/**
 * Adds a webhook to the workspace.
 *
 * @returns the webhook, and its secret, which no other call shows
 * @throws Refusal FIELD_INVALID for the URL, WEBHOOK_LIMIT when the workspace has `MAX_WEBHOOKS`
 */
export async function createWebhook(
  request: CreateWebhookRequestValid,
  call: Call,
  deps: WebhookDeps,
): Promise<CreateWebhookResponse> {
  const { workspaceId } = call.caller;
  const url = storedUrl(request.url, deps);
  const secret = mintWebhookSecret();
  const id = `wh_${randomBytes(12).toString("hex")}`;
  const method = WebhookService.method.createWebhook;
  return withIdempotency(deps.em, method, request, call, async (tx) => {
    await assertRoomForWebhook(tx, workspaceId);
    const createdAt = deps.now();
    const webhook = tx.create(Webhook, {
      workspace: workspaceId,
      id,
      url,
      types: storedTypes(request.types),
      secrets: [storedSecret(deps.secretSeal, { workspace: workspaceId, webhook: id }, secret)],
      createdAt,
      updatedAt: createdAt,
    });
    await tx.flush();
    return create(CreateWebhookResponseSchema, { data: webhookMessage(webhook), secret });
  });
}

/** Locks, so that of two webhooks that are added at the same time the second counts the first. */
async function assertRoomForWebhook(tx: EntityManager, workspace: number): Promise<void> {
  await tx.execute("select pg_advisory_xact_lock(hashtextextended('webhooks', ?))", [workspace]);
  if ((await tx.count(Webhook, { workspace })) < MAX_WEBHOOKS) return;
  throw refuse("WEBHOOK_LIMIT", `The workspace has ${MAX_WEBHOOKS} webhooks, and no more fit.`, {
    subject: "webhook",
  });
}
