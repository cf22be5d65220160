import { LockMode } from "@mikro-orm/postgresql";
import type { Logger } from "pino";
import { byOwner } from "../../db/by-owner.ts";
import type { CreateGroup } from "../../db/group-commit.ts";
import type { Outcome } from "../../db/group-commit.ts";
import { persist } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { createSemaphore } from "../../db/semaphore.ts";
import { runStatement, type Statement } from "../../db/statement.ts";
import type { Transaction } from "../../db/transaction.ts";
import { hasFailedTooLong, nextWaitMs, parseRetryAfter } from "../../domain/webhook/webhook-schedule.ts";
import type { DueDelivery } from "./load-due-deliveries.ts";
import { recordWebhookEvent } from "./webhooks.ts";
import { isSuccess, type SendResult } from "./send-webhook.ts";
import { WebhookAttempt } from "./webhook-attempt.entity.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import { Webhook, type DisabledReason } from "./webhook.entity.ts";

interface Attempt {
  readonly startedAt: Date;
  readonly url: string;
  readonly result: SendResult;
}

export interface DeliveryOutcome {
  readonly delivery: DueDelivery;
  /** Whether the webhook's previous attempt failed. */
  readonly wasFailing: boolean;
  /** `undefined` if no attempt was made because the webhook is disabled. */
  readonly attempt: Attempt | undefined;
}

export interface RecordDeps {
  readonly em: EntityManager;
  readonly createGroup: CreateGroup;
  readonly now: () => Date;
  /** Returns a random number from 0 to 1, used to spread retries. */
  readonly random: () => number;
}

/** Maximum number of outcomes in a transaction that changes no webhooks. */
const MAX_ENDS = 200;
/** Maximum number of concurrent transactions that change webhooks. */
const MAX_CHANGES = 2;

/** Whether recording an outcome also changes the webhook. */
export function changesWebhook({ attempt, wasFailing }: DeliveryOutcome): boolean {
  return attempt !== undefined && (wasFailing || !isSuccess(attempt.result));
}

/**
 * Creates the outcome recorder of one process. Concurrent outcomes share a transaction.
 *
 * @returns a function that resolves once an outcome is recorded, after retries if the database is
 *   down, or when the signal aborts
 */
export function createOutcomeRecorder(
  deps: RecordDeps,
  log: Logger,
  signal: AbortSignal,
): (outcome: DeliveryOutcome) => Promise<void> {
  const { em, createGroup } = deps;
  const end = createGroup({
    name: "delivery_ends",
    maxMembers: MAX_ENDS,
    workspaceOf: ({ delivery }: DeliveryOutcome) => delivery.workspace,
    serializeBy: () => undefined,
    deadlineMs: () => Infinity,
    async work(tx, outcomes: readonly DeliveryOutcome[]) {
      endDeliveries(tx, outcomes, deps.now());
      return outcomes.map(() => DONE);
    },
  });
  const changes = createSemaphore(MAX_CHANGES);
  async function change({ delivery, attempt }: DeliveryOutcome): Promise<void> {
    await changes.acquire();
    try {
      await em.fork().transactional(async (tx) => {
        const lock = lockingWebhooks(delivery.workspace, [delivery.webhook], "no key update");
        await runStatement(tx, ...lock);
        await recordAttempt(tx, delivery, attempt!, deps);
      });
    } finally {
      changes.release();
    }
  }

  /** Whether the last write failed. Many writes fail together, so only the first failure is logged. */
  let isFailing = false;

  function onError(error: unknown): void {
    if (!isFailing) log.warn({ err: error }, "delivery attempts could not be recorded");
    isFailing = true;
  }
  return async (outcome) => {
    const write = changesWebhook(outcome) ? change : end;
    await persist(() => write(outcome), signal, onError);
    isFailing = false;
  };
}

const DONE: Outcome<void> = { result: undefined };

/** Strength of a row lock on webhooks. `key share` prevents their deletion. `no key update` also prevents changes. */
type Strength = "key share" | "no key update";

/** Returns SQL that locks webhooks in a fixed order, so that transactions cannot deadlock. */
const lockSql = (strength: Strength) => `
  with asked as materialized (
    select distinct webhook from json_array_elements_text($2) as webhook order by webhook
  )
  select from asked cross join lateral (
    select from webhook where workspace_id = $1 and id = asked.webhook limit 1 for ${strength}
  ) as locked`;

/**
 * Returns the statement that locks webhooks. To avoid deadlocks, it must run before their deliveries are locked, which
 * is the order of a deletion, and take the strongest lock that the transaction needs.
 */
function lockingWebhooks(workspace: number, webhooks: readonly string[], strength: Strength): Statement {
  return [lockSql(strength), [workspace, JSON.stringify(webhooks)]];
}

/**
 * Ends deliveries, except those that another process has already ended. Locks and checks them one by one, because a
 * join might read the whole index on pending deliveries. The condition on `outcome.attempts` is always true, but makes
 * PostgreSQL plan for one row instead of 100.
 */
const END = `
  with outcome as materialized (
    select outcome.* from json_to_recordset($2) as outcome (
      id bigint, attempts int, status text, ended_at timestamptz,
      number int, started_at timestamptz, duration_ms int, response_status int, answer text)
    cross join lateral (
      select status, attempts from webhook_delivery
      where workspace_id = $1 and webhook_delivery.id = outcome.id limit 1 for update
    ) as delivery
    where outcome.attempts between 0 and 2147483647
      and delivery.status = 'pending' and delivery.attempts = outcome.attempts
  ), ended as (
    update webhook_delivery as delivery
    set status = outcome.status, attempts = coalesce(outcome.number, outcome.attempts),
      next_attempt_at = null, ended_at = outcome.ended_at
    from outcome
    where delivery.workspace_id = $1 and delivery.id = outcome.id
    returning outcome.*
  )
  insert into webhook_attempt
    (workspace_id, delivery_id, number, started_at, duration_ms, status, answer)
  select $1, id, number, started_at, duration_ms, response_status, answer
  from ended where number is not null`;

/**
 * Ends deliveries that succeeded or whose webhook is disabled, and stores their attempts, in the
 * caller's transaction. Does not change the webhooks.
 */
function endDeliveries(tx: Transaction, outcomes: readonly DeliveryOutcome[], endedAt: Date): void {
  const owned = byOwner(outcomes, ({ delivery }) => delivery.workspace);
  for (const [workspace, own] of owned) {
    const webhooks = own.map(({ delivery }) => delivery.webhook);
    void tx.send(...lockingWebhooks(workspace, webhooks, "key share"));
    const rows = own.map((outcome) => toEndRow(outcome, endedAt));
    void tx.send(END, [workspace, JSON.stringify(rows)]);
  }
}

function toEndRow({ delivery, attempt }: DeliveryOutcome, endedAt: Date) {
  const { id, attempts } = delivery;
  const { startedAt, result } = attempt ?? {};
  return {
    id,
    attempts,
    status: attempt === undefined ? "failed" : "delivered",
    ended_at: endedAt,
    number: attempt && attempts + 1,
    started_at: startedAt,
    duration_ms: result?.durationMs,
    response_status: result?.status,
    answer: result?.answer,
  };
}

/**
 * Records an attempt in the caller's transaction, which must have locked the webhook for changes. Then ends the
 * delivery, schedules the next attempt or disables the webhook. No-op if another process has recorded the attempt.
 */
async function recordAttempt(
  tx: EntityManager,
  { id, workspace, attempts }: DueDelivery,
  attempt: Attempt,
  deps: RecordDeps,
): Promise<void> {
  const { startedAt, result } = attempt;
  const delivery = await tx.findOne(WebhookDelivery, { workspace, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
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
    answer: result.answer ?? null,
  });
  if (isSuccess(result)) await succeed(tx, delivery, deps);
  else await fail(tx, delivery, attempt, deps);
}

async function succeed(tx: EntityManager, delivery: WebhookDelivery, { now }: RecordDeps): Promise<void> {
  markEnded(delivery, "delivered", now());
  const { workspace, webhook } = delivery;
  await tx.nativeUpdate(Webhook, { workspace, id: webhook.id }, { failingSince: null });
}

async function fail(
  tx: EntityManager,
  delivery: WebhookDelivery,
  { startedAt, url, result }: Attempt,
  { now, random }: RecordDeps,
): Promise<void> {
  const { workspace } = delivery;
  const webhook = await tx.findOneOrFail(Webhook, { workspace, id: delivery.webhook.id });
  webhook.failingSince ??= startedAt;
  const endedAt = now();
  // A 410 from an earlier URL does not concern the current one.
  if (result.status === 410 && webhook.url === url) await disable(tx, webhook, "gone", endedAt);
  else if (hasFailedTooLong(webhook.failingSince, endedAt)) {
    await disable(tx, webhook, "failing", endedAt);
  }
  const requestedMs = parseRetryAfter(result.retryAfter, endedAt);
  const waitMs = nextWaitMs(delivery.attempts, requestedMs, random());
  if (waitMs === undefined || webhook.disabledReason) return markEnded(delivery, "failed", endedAt);
  const isSimulated = delivery.attempts <= (delivery.simulatedFailures ?? 0);
  // Simulated failures are retried immediately.
  delivery.nextAttemptAt = new Date(endedAt.getTime() + (isSimulated ? 0 : waitMs));
}

function markEnded(delivery: WebhookDelivery, status: "delivered" | "failed", at: Date): void {
  delivery.status = status;
  delivery.nextAttemptAt = null;
  delivery.endedAt = at;
}

/** Disables a webhook and records the event. No-op if the webhook is already disabled. */
async function disable(tx: EntityManager, webhook: Webhook, reason: DisabledReason, at: Date): Promise<void> {
  if (webhook.disabledReason) return;
  webhook.disabledReason = reason;
  webhook.updatedAt = at;
  await recordWebhookEvent(tx, webhook, "webhook.disabled", at);
}
