import { create } from "@bufbuild/protobuf";
import {
  RotateWebhookSecretResponseSchema,
  WebhookService,
  type RotateWebhookSecretRequestValid,
  type RotateWebhookSecretResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import { mintWebhookSecret } from "../../domain/webhook/webhook-signature.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { findWebhook } from "./find-webhook.ts";
import type { WebhookDeps } from "./webhook-deps.ts";
import { webhookMessage } from "./webhook-message.ts";
import type { WebhookSecret } from "./webhook.entity.ts";

/** How long earlier secrets go on signing when the caller does not say, in seconds: a day. */
const DEFAULT_OVERLAP_SECONDS = 86_400;
/** How many secrets sign at the same time; of more, the oldest ends at once. */
const MAX_SECRETS = 5;

/**
 * Gives a webhook a new secret at once; the earlier ones end after the overlap, or earlier if they
 * were to end earlier.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND
 */
export async function rotateWebhookSecret(
  request: RotateWebhookSecretRequestValid,
  call: Call,
  { em, now }: WebhookDeps,
): Promise<RotateWebhookSecretResponse> {
  const { workspaceId } = call.caller;
  const secret = mintWebhookSecret();
  return withIdempotency(
    em,
    WebhookService.method.rotateWebhookSecret,
    request,
    call,
    async (tx) => {
      const webhook = await findWebhook(tx, workspaceId, request.webhook, "lock");
      const rotatedAt = now();
      const endMs =
        rotatedAt.getTime() + (request.overlapSeconds ?? DEFAULT_OVERLAP_SECONDS) * 1_000;
      const earlier = webhook.secrets.map((it) => ({
        ...it,
        endsAtMs: Math.min(it.endsAtMs ?? Infinity, endMs),
      }));
      webhook.secrets = [{ secret, endsAtMs: null }, ...working(earlier, rotatedAt)].slice(
        0,
        MAX_SECRETS,
      );
      webhook.updatedAt = rotatedAt;
      await tx.flush();
      return create(RotateWebhookSecretResponseSchema, { data: webhookMessage(webhook), secret });
    },
  );
}

/** The secrets that have not ended. */
export function working(secrets: readonly WebhookSecret[], now: Date): WebhookSecret[] {
  return secrets.filter(({ endsAtMs }) => endsAtMs === null || endsAtMs > now.getTime());
}
