import { randomBytes } from "node:crypto";
import {
  WebhookService,
  type CreateWebhookRequestValid,
  type CreateWebhookResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { MAX_WEBHOOKS } from "../../domain/limits.ts";
import { refuse } from "../../domain/refusal.ts";
import { webhookUrlFault } from "../../domain/webhook/webhook-address.ts";
import { createWebhookSecret } from "../../domain/webhook/webhook-signature.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { type WebhookDeps, webhookMessage } from "./webhooks.ts";
import { storedSecret } from "./webhook-secrets.ts";
import { Webhook } from "./webhook.entity.ts";

/**
 * Creates a webhook of the workspace.
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
  const url = toStoredUrl(request.url, deps);
  const secret = createWebhookSecret();
  const id = `wh_${randomBytes(12).toString("hex")}`;
  const method = WebhookService.method.createWebhook;
  return withIdempotency(deps.em, { method, request, call }, async (tx) => {
    await assertWebhookLimit(tx, workspaceId);
    const createdAt = deps.now();
    const webhook = tx.create(Webhook, {
      workspace: workspaceId,
      id,
      url,
      types: toStoredTypes(request.types),
      secrets: [storedSecret(deps.secretSeal, { workspace: workspaceId, webhook: id }, secret)],
      createdAt,
      updatedAt: createdAt,
    });
    await tx.flush();
    return { data: webhookMessage(webhook), secret };
  });
}

const LOCK_WEBHOOKS = "select pg_advisory_xact_lock(hashtextextended('webhooks', $1))";

/** Locks, so that of two webhooks that are created at the same time the second counts the first. */
async function assertWebhookLimit(tx: EntityManager, workspace: number): Promise<void> {
  await runStatement(tx, LOCK_WEBHOOKS, [workspace]);
  if ((await tx.count(Webhook, { workspace })) < MAX_WEBHOOKS) return;
  throw refuse("WEBHOOK_LIMIT");
}

/**
 * The URL to store for one that a caller names: as it is parsed, so that what is shown is where
 * events are sent.
 *
 * @throws Refusal FIELD_INVALID when events may not be sent there
 */
export function toStoredUrl(
  named: string,
  { allowLoopbackHttp }: Pick<WebhookDeps, "allowLoopbackHttp">,
): string {
  const fault = webhookUrlFault(named, allowLoopbackHttp);
  if (fault !== undefined) throw refuse("FIELD_INVALID", `url ${fault}.`, { subject: "url" });
  return new URL(named).href;
}

/** The event types to store for those a caller names; none, or `*` among them, means all. */
export function toStoredTypes(named: readonly string[]): readonly string[] {
  return named.length === 0 || named.includes("*") ? ["*"] : [...new Set(named)];
}
