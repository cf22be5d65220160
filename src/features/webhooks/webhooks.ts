import { type JsonObject, toJson } from "@bufbuild/protobuf";
import {
  WebhookAttemptSchema,
  WebhookDeliverySchema,
  WebhookDeliveryStatusSchema,
  WebhookSchema,
} from "../../../gen/shipments/v1/webhook_pb.js";
import type { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import { compileEnumName, compileToMessage } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { announceWorkspace } from "../events/event-announcer.ts";
import { writeEventId } from "../events/event-message.ts";
import { insertEvents, type NewEvent, nextEvent } from "../events/insert-events.ts";
import type { WebhookAttempt } from "./webhook-attempt.entity.ts";
import type { DeliveryStatus, WebhookDelivery } from "./webhook-delivery.entity.ts";
import { Webhook } from "./webhook.entity.ts";

export interface WebhookDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  /** Whether webhooks may use plain http to this machine, for local development. */
  readonly allowLoopbackHttp: boolean;
  readonly secretSeal: SecretSeal;
}

export type WebhookFunctions = ServiceFunctions<typeof WebhookService, Call, WebhookDeps>;

/** The lock allows concurrent inserts of the webhook's deliveries. */
const LOCK_WEBHOOK = "select from webhook where workspace_id = $1 and id = $2 for no key update";

/**
 * Loads a webhook of the caller's workspace. Locks its row if `lock` is given.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND, also for a webhook of another workspace
 */
export async function loadWebhook(
  em: EntityManager,
  { caller: { workspaceId: workspace } }: Call,
  id: string,
  lock?: "lock",
): Promise<Webhook> {
  if (lock !== undefined) await runStatement(em, LOCK_WEBHOOK, [workspace, id]);
  const webhook = await em.findOne(Webhook, { workspace, id });
  if (webhook === null) throw refuse("WEBHOOK_NOT_FOUND");
  return webhook;
}

export const deliveryStatusOf = compileEnumName<DeliveryStatus>(WebhookDeliveryStatusSchema);

const toWebhook = compileToMessage(WebhookSchema);
const toDelivery = compileToMessage(WebhookDeliverySchema);
export const attemptMessage = compileToMessage(WebhookAttemptSchema);

/** Returns the public representation of a webhook, without its secrets. */
export function webhookMessage(webhook: Webhook) {
  return toWebhook({ ...webhook, enabled: !webhook.disabledReason });
}

/** Records an event of a webhook. The webhook's row must be locked. */
export async function recordWebhookEvent(
  tx: EntityManager,
  webhook: Webhook,
  type: "webhook.test" | "webhook.disabled",
  at: Date,
): Promise<NewEvent> {
  const data = toJson(WebhookSchema, webhookMessage(webhook)) as JsonObject;
  const event = nextEvent(webhook, webhook.id, { type, data, at });
  await insertEvents(tx, webhook.workspace, [event]);
  await announceWorkspace(tx, webhook.workspace);
  return event;
}

export type LastAttempt = Pick<WebhookAttempt, "status" | "error" | "durationMs">;

/**
 * Returns a delivery as an API message.
 *
 * @param last `undefined` before the first attempt
 */
export function deliveryMessage(delivery: WebhookDelivery, last?: LastAttempt) {
  return toDelivery({
    ...delivery,
    webhook: delivery.webhook.id,
    event: writeEventId(delivery),
    shipment: delivery.type.startsWith("shipment.") ? delivery.subject : undefined,
    lastStatus: last?.status,
    lastError: last?.error,
    lastDurationMs: last?.durationMs,
  });
}
