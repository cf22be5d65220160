import { setTimeout as sleep } from "node:timers/promises";
import { LockMode } from "@mikro-orm/postgresql";
import type { Logger } from "pino";
import { byOwner } from "../../db/by-owner.ts";
import type { CreateGroup } from "../../db/group-commit.ts";
import type { Outcome } from "../../db/group-commit.ts";
import type { EntityManager } from "../../db/orm.ts";
import { createSemaphore } from "../../db/semaphore.ts";
import { runStatement, type Statement } from "../../db/statement.ts";
import type { Transaction } from "../../db/transaction.ts";
import {
  hasFailedTooLong,
  nextWaitMs,
  parseRetryAfter,
} from "../../domain/webhook/webhook-schedule.ts";
import type { DueDelivery } from "./load-due-deliveries.ts";
import { recordWebhookEvent } from "./webhooks.ts";
import { isSuccess, type SendResult } from "./send-webhook.ts";
import { WebhookAttempt } from "./webhook-attempt.entity.ts";
import { WebhookDelivery } from "./webhook-delivery.entity.ts";
import { Webhook, type DisabledReason } from "./webhook.entity.ts";

interface Attempt {
  readonly startedAt: Date;
  readonly result: SendResult;
}

/** What came of a delivery that was due. */
export interface DeliveryOutcome {
  readonly delivery: DueDelivery;
  /** Whether the webhook's last attempt before this one failed. */
  readonly wasFailing: boolean;
  /** Undefined when the delivery is given up, because the webhook has been disabled. */
  readonly attempt: Attempt | undefined;
}

export interface RecordDeps {
  readonly em: EntityManager;
  readonly createGroup: CreateGroup;
  readonly now: () => Date;
  /** Gives a number from 0 to 1, which spreads retries. */
  readonly random: () => number;
}

/** How many outcomes that change no webhook one transaction records at most. */
const MAX_ENDS = 200;
/** How many transactions that change webhooks are in flight at most. */
const MAX_CHANGES = 2;
/** How long to wait before trying again what could not be recorded. */
const RETRY_MS = 1_000;

/** Whether recording an outcome also changes the webhook. */
export function changesWebhook({ attempt, wasFailing }: DeliveryOutcome): boolean {
  return attempt !== undefined && (wasFailing || !isSuccess(attempt.result));
}

/**
 * Builds what records outcomes in one process; those that come at the same time share a transaction.
 *
 * @returns resolves once an outcome is recorded. While that fails, as when the database is away, it
 * is tried again; resolves too when the signal aborts
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

  /** Whether the last outcome could not be recorded; many fail together, and one is logged. */
  let isFailing = false;

  return async (outcome) => {
    const write = changesWebhook(outcome) ? change : end;
    while (!signal.aborted) {
      try {
        await write(outcome);
        isFailing = false;
        return;
      } catch (error) {
        if (!isFailing) log.warn({ err: error }, "attempts at deliveries could not be recorded");
        isFailing = true;
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };
}

const DONE: Outcome<void> = { result: undefined };

/** `key share` keeps webhooks from being deleted, `no key update` also from being changed. */
type Strength = "key share" | "no key update";

/** In one order, so that transactions do not wait for each other in a circle. */
const lockSql = (strength: Strength) => `
  with asked as materialized (
    select distinct webhook from json_array_elements_text($2) as webhook order by webhook
  )
  select from asked cross join lateral (
    select from webhook where workspace_id = $1 and id = asked.webhook limit 1 for ${strength}
  ) as locked`;

/**
 * The statement that locks webhooks, before any of their deliveries is locked, as deleting a webhook does, and with the
 * final strength at once: a different order, or an upgrade later, could deadlock.
 */
function lockingWebhooks(
  workspace: number,
  webhooks: readonly string[],
  strength: Strength,
): Statement {
  return [lockSql(strength), [workspace, JSON.stringify(webhooks)]];
}

/**
 * Deliveries that another process has ended stay as they are. They are locked and looked at one
 * by one, since the index of those that are pending, in a join, may be read as a whole. The condition on
 * the attempts always holds: with it PostgreSQL expects one row instead of 100.
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
 * Ends deliveries that succeeded, with their attempts, and those that are given up, in the caller's
 * transaction. Nothing changes for their webhooks.
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
 * Records an attempt and its consequences in the caller's transaction, which has locked the webhook
 * so that it can be changed: the end of the delivery, the time of the next attempt, the disabling of
 * the webhook. Does nothing if the attempt is recorded already, by another process.
 */
async function recordAttempt(
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
    answer: result.answer ?? null,
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
  const { workspace } = delivery;
  const webhook = await tx.findOneOrFail(Webhook, { workspace, id: delivery.webhook.id });
  webhook.failingSince ??= startedAt;
  const endedAt = now();
  if (result.status === 410) await disable(tx, webhook, "gone", endedAt);
  else if (hasFailedTooLong(webhook.failingSince, endedAt)) {
    await disable(tx, webhook, "failing", endedAt);
  }
  const requestedMs = parseRetryAfter(result.retryAfter, endedAt);
  const waitMs = nextWaitMs(delivery.attempts, requestedMs, random());
  if (waitMs === undefined || webhook.disabledReason) return markEnded(delivery, "failed", endedAt);
  const isSimulated = delivery.attempts <= (delivery.simulatedFailures ?? 0);
  // Simulated failures are retried at once.
  delivery.nextAttemptAt = new Date(endedAt.getTime() + (isSimulated ? 0 : waitMs));
}

function markEnded(delivery: WebhookDelivery, status: "delivered" | "failed", at: Date): void {
  delivery.status = status;
  delivery.nextAttemptAt = null;
  delivery.endedAt = at;
}

/** Disables a webhook that is enabled, and records that as an event. */
async function disable(
  tx: EntityManager,
  webhook: Webhook,
  reason: DisabledReason,
  at: Date,
): Promise<void> {
  if (webhook.disabledReason) return;
  webhook.disabledReason = reason;
  webhook.updatedAt = at;
  await recordWebhookEvent(tx, webhook, "webhook.disabled", at);
}
