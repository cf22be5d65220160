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
import { enqueueAttempt, type DeliverJob } from "./enqueue.ts";
import { findWebhook } from "./find-webhook.ts";
import type { Outcome } from "./send-webhook.ts";
import { WebhookAttempt } from "./webhook-attempt.entity.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import { webhookMessage } from "./webhook-message.ts";
import { Webhook, type DisabledReason } from "./webhook.entity.ts";

/** What recording works with. */
export interface RecordDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  /** From 0 to 1; spreads retries. */
  readonly random: () => number;
}

/**
 * Records an attempt and, in the same transaction, what follows from it: the end of the delivery,
 * the job of the next attempt, the end of the webhook.
 */
export async function recordOutcome(
  job: DeliverJob,
  webhook: Webhook,
  startedAt: Date,
  outcome: Outcome,
  deps: RecordDeps,
): Promise<void> {
  const wasHealthy = !webhook.failingSince;
  await deps.em.fork().transactional(async (tx) => {
    await lockWebhook(tx, webhook, isSuccess(outcome) && wasHealthy ? "refer" : "change");
    const delivery = await lockDelivery(tx, job);
    if (delivery === null || !awaits(delivery, job)) return;
    delivery.attempts = job.attempt;
    tx.create(WebhookAttempt, {
      workspace: job.workspace,
      delivery,
      number: job.attempt,
      startedAt,
      durationMs: outcome.durationMs,
      status: outcome.status ?? null,
      error: outcome.error ?? null,
      answer: outcome.status === undefined ? null : outcome.answer,
    });
    if (isSuccess(outcome)) await succeed(tx, delivery, wasHealthy, deps);
    else await fail(tx, delivery, startedAt, outcome, deps);
  });
}

/** Gives up a delivery whose webhook was disabled before this attempt. */
export async function endDelivery(
  job: DeliverJob,
  webhook: Webhook,
  { em, now }: RecordDeps,
): Promise<void> {
  await em.fork().transactional(async (tx) => {
    await lockWebhook(tx, webhook, "refer");
    const delivery = await lockDelivery(tx, job);
    if (delivery !== null && awaits(delivery, job)) end(delivery, "failed", now());
  });
}

/** Whether a delivery waits for the very attempt that a job is to make. */
export function awaits(delivery: WebhookDelivery, job: DeliverJob): boolean {
  return delivery.status === "pending" && delivery.attempts === job.attempt - 1;
}

/**
 * Locks a webhook's row before any of its deliveries, as its removal does, and at once as firmly as
 * it will have to be: so no two wait for each other.
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

function isSuccess({ status }: Outcome): boolean {
  return status !== undefined && status >= 200 && status <= 299;
}

async function succeed(
  tx: EntityManager,
  delivery: WebhookDelivery,
  wasHealthy: boolean,
  { now }: RecordDeps,
): Promise<void> {
  end(delivery, "delivered", now());
  if (wasHealthy) return;
  const { workspace, webhook } = delivery;
  await tx.nativeUpdate(Webhook, { workspace, id: webhook.id }, { failingSince: null });
}

async function fail(
  tx: EntityManager,
  delivery: WebhookDelivery,
  startedAt: Date,
  outcome: Outcome,
  { now, random }: RecordDeps,
): Promise<void> {
  const webhook = await findWebhook(tx, delivery.workspace, delivery.webhook.id);
  webhook.failingSince ??= startedAt;
  const endedAt = now();
  if (outcome.status === 410) disable(tx, webhook, "gone", endedAt);
  else if (isBeyondPatience(webhook.failingSince, endedAt)) {
    disable(tx, webhook, "failing", endedAt);
  }
  const askedMs =
    outcome.status === undefined ? undefined : readRetryAfter(outcome.retryAfter, endedAt);
  const waitMs = nextWaitMs(delivery.attempts, askedMs, random());
  if (waitMs === undefined || webhook.disabledReason) return end(delivery, "failed", endedAt);
  delivery.nextAttemptAt = new Date(endedAt.getTime() + waitMs);
  await tx.flush();
  await enqueueAttempt(tx, delivery.workspace, delivery.id, delivery.nextAttemptAt);
}

function end(delivery: WebhookDelivery, status: "delivered" | "failed", at: Date): void {
  delivery.status = status;
  delivery.nextAttemptAt = null;
  delivery.endedAt = at;
}

/** Disables a webhook, unless it is already, and says so in an event. */
function disable(tx: EntityManager, webhook: Webhook, reason: DisabledReason, at: Date): void {
  if (webhook.disabledReason) return;
  webhook.disabledReason = reason;
  webhook.updatedAt = at;
  const data = toJson(WebhookSchema, webhookMessage(webhook)) as JsonObject;
  recordEvent(tx, webhook, webhook.id, { type: "webhook.disabled", data, at });
}
