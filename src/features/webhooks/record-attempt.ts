import { toJson, type JsonObject } from "@bufbuild/protobuf";
import { LockMode } from "@mikro-orm/postgresql";
import { WebhookSchema } from "../../../gen/shipments/v1/webhook_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import {
  hasFailedTooLong,
  nextWaitMs,
  readRetryAfter,
} from "../../domain/webhook/webhook-schedule.ts";
import { insertEvent } from "../events/insert-events.ts";
import type { Attempt } from "./attempt-delivery.ts";
import { findWebhook } from "./load-webhook.ts";
import type { DueDelivery } from "./load-due-deliveries.ts";
import { isSuccess, type SendResult } from "./send-webhook.ts";
import { WebhookAttempt } from "./webhook-attempt.entity.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import { webhookMessage } from "./webhook-message.ts";
import { Webhook, type DisabledReason } from "./webhook.entity.ts";

/** What recording needs. */
export interface RecordDeps {
  readonly now: () => Date;
  /** Gives a number from 0 to 1, which spreads retries. */
  readonly random: () => number;
}

/**
 * Records an attempt and its consequences in the caller's transaction, which has locked the webhook
 * so that it can be changed: the end of the delivery, the time of the next attempt, the disabling of
 * the webhook. Does nothing if the attempt is recorded already, by another process.
 */
export async function recordAttempt(
  tx: EntityManager,
  { id, workspace, attempts }: DueDelivery,
  { startedAt, result }: Attempt,
  deps: RecordDeps,
): Promise<void> {
  const delivery = await tx.findOne(
    WebhookDelivery,
    { workspace, id },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (delivery?.status !== "pending" || delivery.attempts !== attempts) return;
  delivery.attempts += 1;
  tx.create(WebhookAttempt, {
    workspace,
    delivery,
    number: delivery.attempts,
    startedAt,
    durationMs: result.durationMs,
    status: result.status ?? null,
    error: result.error ?? null,
    answer: result.status === undefined ? null : result.answer,
  });
  if (isSuccess(result)) await succeed(tx, delivery, deps);
  else await fail(tx, delivery, startedAt, result, deps);
}

async function succeed(
  tx: EntityManager,
  delivery: WebhookDelivery,
  { now }: RecordDeps,
): Promise<void> {
  markEnded(delivery, "delivered", now());
  const { workspace, webhook } = delivery;
  await tx.nativeUpdate(Webhook, { workspace, id: webhook.id }, { failingSince: null });
}

async function fail(
  tx: EntityManager,
  delivery: WebhookDelivery,
  startedAt: Date,
  result: SendResult,
  { now, random }: RecordDeps,
): Promise<void> {
  const webhook = await findWebhook(tx, delivery.workspace, delivery.webhook.id);
  webhook.failingSince ??= startedAt;
  const endedAt = now();
  if (result.status === 410) disable(tx, webhook, "gone", endedAt);
  else if (hasFailedTooLong(webhook.failingSince, endedAt)) {
    disable(tx, webhook, "failing", endedAt);
  }
  const askedMs =
    result.status === undefined ? undefined : readRetryAfter(result.retryAfter, endedAt);
  const waitMs = nextWaitMs(delivery.attempts, askedMs, random());
  if (waitMs === undefined || webhook.disabledReason) return markEnded(delivery, "failed", endedAt);
  delivery.nextAttemptAt = new Date(endedAt.getTime() + waitMs);
}

function markEnded(delivery: WebhookDelivery, status: "delivered" | "failed", at: Date): void {
  delivery.status = status;
  delivery.nextAttemptAt = null;
  delivery.endedAt = at;
}

/** Disables a webhook that is enabled, and records a `webhook.disabled` event. */
function disable(tx: EntityManager, webhook: Webhook, reason: DisabledReason, at: Date): void {
  if (webhook.disabledReason) return;
  webhook.disabledReason = reason;
  webhook.updatedAt = at;
  const data = toJson(WebhookSchema, webhookMessage(webhook)) as JsonObject;
  insertEvent(tx, webhook, webhook.id, { type: "webhook.disabled", data, at });
}
