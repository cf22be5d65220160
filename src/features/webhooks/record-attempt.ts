import { toJson, type JsonObject } from "@bufbuild/protobuf";
import { LockMode } from "@mikro-orm/postgresql";
import { WebhookSchema } from "../../../gen/shipments/v1/webhook_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import {
  isBeyondPatience,
  nextWaitMs,
  readRetryAfter,
} from "../../domain/webhook/webhook-schedule.ts";
import { recordEvent } from "../events/record-event.ts";
import { enqueueAttempt, type DeliverJob } from "./enqueue-attempt.ts";
import { findWebhook } from "./find-webhook.ts";
import type { SendResult } from "./send-webhook.ts";
import { WebhookAttempt } from "./webhook-attempt.entity.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import { webhookMessage } from "./webhook-message.ts";
import { Webhook, type DisabledReason } from "./webhook.entity.ts";

/** What recording needs. */
export interface RecordDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  /** Gives a number from 0 to 1, which spreads retries. */
  readonly random: () => number;
}

/**
 * Records an attempt and its consequences in one transaction: the end of the delivery, the job of
 * the next attempt, the disabling of the webhook.
 */
export async function recordAttempt(
  job: DeliverJob,
  webhook: Webhook,
  startedAt: Date,
  result: SendResult,
  deps: RecordDeps,
): Promise<void> {
  const wasHealthy = !webhook.failingSince;
  await deps.em.fork().transactional(async (tx) => {
    await lockWebhook(tx, webhook, isSuccess(result) && wasHealthy ? "refer" : "change");
    const delivery = await lockDelivery(tx, job);
    if (delivery === null || !awaitsAttempt(delivery, job)) return;
    delivery.attempts = job.attempt;
    tx.create(WebhookAttempt, {
      workspace: job.workspace,
      delivery,
      number: job.attempt,
      startedAt,
      durationMs: result.durationMs,
      status: result.status ?? null,
      error: result.error ?? null,
      answer: result.status === undefined ? null : result.answer,
    });
    if (isSuccess(result)) await succeed(tx, delivery, wasHealthy, deps);
    else await fail(tx, delivery, startedAt, result, deps);
  });
}

/** Ends a delivery as failed without an attempt, because its webhook has been disabled. */
export async function abandonDelivery(
  job: DeliverJob,
  webhook: Webhook,
  { em, now }: RecordDeps,
): Promise<void> {
  await em.fork().transactional(async (tx) => {
    await lockWebhook(tx, webhook, "refer");
    const delivery = await lockDelivery(tx, job);
    if (delivery !== null && awaitsAttempt(delivery, job)) markEnded(delivery, "failed", now());
  });
}

/** Whether the next attempt of a delivery is the one that a job is to make. */
export function awaitsAttempt(delivery: WebhookDelivery, job: DeliverJob): boolean {
  return delivery.status === "pending" && delivery.attempts === job.attempt - 1;
}

/**
 * Locks a webhook's row before those of its deliveries, as deleting it does, and with the final
 * strength at once: a different order, or an upgrade later, could deadlock.
 */
async function lockWebhook(
  tx: EntityManager,
  { workspace, id }: Webhook,
  purpose: "refer" | "change",
): Promise<void> {
  const strength = purpose === "refer" ? "key share" : "no key update";
  await tx.execute(`select from webhook where workspace_id = ? and id = ? for ${strength}`, [
    workspace,
    id,
  ]);
}

function lockDelivery(tx: EntityManager, job: DeliverJob): Promise<WebhookDelivery | null> {
  return tx.findOne(
    WebhookDelivery,
    { workspace: job.workspace, id: job.delivery },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
}

function isSuccess({ status }: SendResult): boolean {
  return status !== undefined && status >= 200 && status <= 299;
}

async function succeed(
  tx: EntityManager,
  delivery: WebhookDelivery,
  wasHealthy: boolean,
  { now }: RecordDeps,
): Promise<void> {
  markEnded(delivery, "delivered", now());
  if (wasHealthy) return;
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
  else if (isBeyondPatience(webhook.failingSince, endedAt)) {
    disable(tx, webhook, "failing", endedAt);
  }
  const askedMs =
    result.status === undefined ? undefined : readRetryAfter(result.retryAfter, endedAt);
  const waitMs = nextWaitMs(delivery.attempts, askedMs, random());
  if (waitMs === undefined || webhook.disabledReason) return markEnded(delivery, "failed", endedAt);
  delivery.nextAttemptAt = new Date(endedAt.getTime() + waitMs);
  await tx.flush();
  await enqueueAttempt(tx, delivery.workspace, delivery.id, delivery.nextAttemptAt);
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
  recordEvent(tx, webhook, webhook.id, { type: "webhook.disabled", data, at });
}
