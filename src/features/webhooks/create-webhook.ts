import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import {
  CreateWebhookResponseSchema,
  WebhookService,
  type CreateWebhookRequestValid,
  type CreateWebhookResponse,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import { MAX_WEBHOOKS } from "../../domain/limits.ts";
import { refuse } from "../../domain/refusal.ts";
import { mintWebhookSecret } from "../../domain/webhook/webhook-signature.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { refuseUrl, typesOf, type WebhookDeps } from "./webhook-deps.ts";
import { webhookMessage } from "./webhook-message.ts";
import { Webhook } from "./webhook.entity.ts";

/**
 * Adds a webhook to the workspace.
 *
 * @throws Refusal FIELD_INVALID for the URL, WEBHOOK_LIMIT when there are too many
 */
export async function createWebhook(
  request: CreateWebhookRequestValid,
  call: Call,
  deps: WebhookDeps,
): Promise<CreateWebhookResponse> {
  const { workspaceId } = call.caller;
  refuseUrl(request.url, deps);
  const secret = mintWebhookSecret();
  return withIdempotency(
    deps.em,
    WebhookService.method.createWebhook,
    request,
    call,
    async (tx) => {
      // Two that are added at the same time count each other.
      await tx.execute("select pg_advisory_xact_lock(hashtextextended('webhooks', ?))", [
        workspaceId,
      ]);
      if ((await tx.count(Webhook, { workspace: workspaceId })) >= MAX_WEBHOOKS) {
        throw refuse(
          "WEBHOOK_LIMIT",
          `The workspace has ${MAX_WEBHOOKS} webhooks, and no more fit.`,
          {
            subject: "webhook",
          },
        );
      }
      const createdAt = deps.now();
      const webhook = tx.create(Webhook, {
        workspace: workspaceId,
        id: `wh_${randomBytes(12).toString("hex")}`,
        url: request.url,
        types: typesOf(request.types),
        secrets: [{ secret, endsAtMs: null }],
        createdAt,
        updatedAt: createdAt,
      });
      await tx.flush();
      return create(CreateWebhookResponseSchema, { data: webhookMessage(webhook), secret });
    },
  );
}
