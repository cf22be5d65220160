import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  WebhookAttemptSchema,
  WebhookDeliverySchema,
  WebhookDeliveryStatus,
  WebhookDisabledReason,
  WebhookSchema,
  type Webhook as WebhookMessage,
  type WebhookAttempt as WebhookAttemptMessage,
  type WebhookDelivery as WebhookDeliveryMessage,
} from "../../../gen/shipments/v1/webhook_pb.js";
import type { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { inverseOf } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { announceWorkspace } from "../events/event-announcer.ts";
import { writeEventId } from "../events/event-message.ts";
import { insertEvents, type NewEvent, nextEvent } from "../events/insert-events.ts";
import type { WebhookAttempt } from "./webhook-attempt.entity.ts";
import type { DeliveryStatus, WebhookDelivery } from "./webhook-delivery.entity.ts";
import { type DisabledReason, Webhook } from "./webhook.entity.ts";

export interface WebhookDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  /** Whether webhooks may go to this machine by plain http, for local development. */
  readonly allowLoopbackHttp: boolean;
  readonly secretSeal: SecretSeal;
}

export type WebhookFunctions = ServiceFunctions<typeof WebhookService, Call, WebhookDeps>;

/** `no key update`, so that deliveries that refer to the webhook can be inserted meanwhile. */
const LOCK_WEBHOOK = "select from webhook where workspace_id = $1 and id = $2 for no key update";

/**
 * A webhook of the caller's workspace, with its row locked if `lock` is given.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND, the same for an unknown webhook and one of another workspace
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

const DISABLED_REASON: Readonly<Record<DisabledReason, WebhookDisabledReason>> = {
  request: WebhookDisabledReason.REQUEST,
  gone: WebhookDisabledReason.GONE,
  failing: WebhookDisabledReason.FAILING,
};

const STATUS: Readonly<Record<DeliveryStatus, WebhookDeliveryStatus>> = {
  pending: WebhookDeliveryStatus.PENDING,
  delivered: WebhookDeliveryStatus.DELIVERED,
  failed: WebhookDeliveryStatus.FAILED,
};

export const deliveryStatusOf = inverseOf(STATUS);

/** A webhook as callers see it, without its secrets. */
export function webhookMessage(webhook: Webhook): WebhookMessage {
  const { disabledReason, failingSince } = webhook;
  return create(WebhookSchema, {
    id: webhook.id,
    url: webhook.url,
    types: [...webhook.types],
    enabled: !disabledReason,
    disabledReason: disabledReason ? DISABLED_REASON[disabledReason] : undefined,
    failingSince: failingSince ? timestampFromDate(failingSince) : undefined,
    createdAt: timestampFromDate(webhook.createdAt),
    updatedAt: timestampFromDate(webhook.updatedAt),
  });
}

/** Records an event of a webhook whose row is locked. */
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
 * A delivery as callers see it.
 *
 * @param last undefined before the first attempt
 */
export function deliveryMessage(
  delivery: WebhookDelivery,
  last?: LastAttempt,
): WebhookDeliveryMessage {
  const { nextAttemptAt, endedAt, subject } = delivery;
  return create(WebhookDeliverySchema, {
    id: BigInt(delivery.id),
    webhook: delivery.webhook.id,
    event: writeEventId(delivery),
    type: delivery.type,
    status: STATUS[delivery.status as DeliveryStatus],
    attempts: delivery.attempts,
    nextAttemptAt: nextAttemptAt ? timestampFromDate(nextAttemptAt) : undefined,
    createdAt: timestampFromDate(delivery.createdAt),
    endedAt: endedAt ? timestampFromDate(endedAt) : undefined,
    shipment: delivery.type.startsWith("shipment.") ? subject : undefined,
    lastStatus: last?.status ?? undefined,
    lastError: last?.error ?? undefined,
    lastDurationMs: last?.durationMs,
  });
}

export function attemptMessage(attempt: WebhookAttempt): WebhookAttemptMessage {
  return create(WebhookAttemptSchema, {
    number: attempt.number,
    startedAt: timestampFromDate(attempt.startedAt),
    durationMs: attempt.durationMs,
    status: attempt.status ?? undefined,
    error: attempt.error ?? undefined,
    answer: attempt.answer ?? undefined,
  });
}
