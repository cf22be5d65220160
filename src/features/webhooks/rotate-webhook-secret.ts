import {
  WebhookService,
  type RotateWebhookSecretRequestValid,
  type RotateWebhookSecretResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import { createWebhookSecret } from "../../domain/webhook/webhook-signature.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { loadWebhook, type WebhookDeps, webhookMessage } from "./webhooks.ts";
import { activeSecrets, storedSecret } from "./webhook-secrets.ts";
import type { WebhookSecret } from "./webhook.entity.ts";

/** How long earlier secrets go on signing by default, in seconds: a day. */
const DEFAULT_OVERLAP_SECONDS = 86_400;
/** How many secrets can sign at the same time; beyond that the oldest ends at once. */
const MAX_SECRETS = 5;

/**
 * Gives a webhook a new secret at once. The earlier ones end after the overlap, or when they were
 * to end anyway, whichever is sooner.
 *
 * @returns the webhook, and the new secret, which no other call shows
 * @throws Refusal WEBHOOK_NOT_FOUND
 */
export async function rotateWebhookSecret(
  request: RotateWebhookSecretRequestValid,
  call: Call,
  { em, now, secretSeal }: WebhookDeps,
): Promise<RotateWebhookSecretResponse> {
  const { workspaceId } = call.caller;
  const secret = createWebhookSecret();
  const overlapMs = (request.overlapSeconds ?? DEFAULT_OVERLAP_SECONDS) * 1_000;
  const method = WebhookService.method.rotateWebhookSecret;
  return withIdempotency(em, { method, request, call }, async (tx) => {
    const webhook = await loadWebhook(tx, workspaceId, request.webhook, "lock");
    const rotatedAt = now();
    const earlier = endBy(webhook.secrets, rotatedAt.getTime() + overlapMs);
    const key = { workspace: workspaceId, webhook: webhook.id };
    const secrets = [storedSecret(secretSeal, key, secret), ...activeSecrets(earlier, rotatedAt)];
    webhook.secrets = secrets.slice(0, MAX_SECRETS);
    webhook.updatedAt = rotatedAt;
    await tx.flush();
    return { data: webhookMessage(webhook), secret };
  });
}

function endBy(secrets: readonly WebhookSecret[], endMs: number): WebhookSecret[] {
  return secrets.map(({ secret, endsAtMs }) => ({
    secret,
    endsAtMs: Math.min(endsAtMs ?? Infinity, endMs),
  }));
}
