import { createWorkers, type Workers } from "../../db/leased-queue.ts";
import { deleteInBatches, runStatement } from "../../db/statement.ts";
import type { Row } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { Refusal } from "../../domain/refusal.ts";
import { accountCheckQueue, scheduleAccountCheck } from "./check-accounts.ts";
import type { StoredProviderEvent } from "./provider-event.entity.ts";
import { ProviderRefused, ProviderUnavailable } from "./payment-provider.ts";
import { findDuePayments, schedulePollOfEvent } from "./provider-payments.ts";
import type { ReconcileDeps, ReconcilePayment } from "./reconcile-payments.ts";
import type { ShipmentKey } from "../shipments/find-shipment.ts";

export interface PaymentJobDeps extends ReconcileDeps {
  readonly reconcilePayment: ReconcilePayment;
}

/**
 * Maximum number of concurrent reconciliations per process and per workspace. Notified payments and
 * other payments each have their own workers with these limits.
 */
const CONCURRENCY = { concurrency: 16, workspaceConcurrency: 8 };
const MAX_EVENTS = 100;
/**
 * Delays before an event about an unknown payment is retried, in milliseconds. After the last retry
 * the event is dropped.
 */
const UNKNOWN_RETRIES_MS = [5_000, 60_000, 10 * 60_000, 60 * 60_000];
/** Time until another process can claim unfinished events, in milliseconds. */
const CLAIM_MS = 2 * 60_000;
/** Retention of provider events, in milliseconds. Providers may redeliver events during this time. */
const KEEP_MS = 30 * 24 * 60 * 60_000;

/** Creates the background workers for provider payments. The workers run independently. */
export function createPaymentJobs(deps: PaymentJobDeps): readonly Workers[] {
  const { em, log, now } = deps;
  const failed = (error: unknown) => log.warn({ err: error }, "payment worker failed");
  const payments = (isNotified: boolean) =>
    createWorkers(
      {
        ...CONCURRENCY,
        find: (limit, except) => findDuePayments(em, isNotified, now(), limit, except),
        work: (key) => reconcile(deps, key),
      },
      failed,
    );
  return [
    { startDue: () => dispatchEvents(deps), idle: async () => undefined },
    payments(true),
    payments(false),
    createWorkers(accountCheckQueue(deps), failed),
  ];
}

async function dispatchEvents(deps: PaymentJobDeps): Promise<boolean> {
  const events = await claimEvents(deps.em, deps.now());
  for (const event of events) await dispatchEvent(deps, event);
  return events.length === MAX_EVENTS;
}

/** Errors that were already logged. A Refusal means that a key cannot be decrypted. */
const EXPECTED = [ProviderRefused, ProviderUnavailable, Refusal];

/** Reconciles a payment. Swallows provider errors, because the payment is retried later. */
async function reconcile(deps: PaymentJobDeps, key: ShipmentKey): Promise<void> {
  try {
    await deps.reconcilePayment(key);
  } catch (error) {
    if (error instanceof ProviderRefused && error.kind === "revoked") {
      await scheduleAccountCheck(deps.em, key.workspace, deps.now());
    } else if (!EXPECTED.some((expected) => error instanceof expected)) throw error;
  }
}

type ClaimedEvent = Row<StoredProviderEvent, "type" | "receivedAt" | "dueAt">;

/** Claims due events and skips those that concurrent processes are claiming. */
const CLAIM = `
  update payment_notice set due_at = $2, attempts = attempts + 1
  where (provider, id) in (
    select provider, id from payment_notice where due_at <= $1
    order by due_at limit ${MAX_EVENTS} for update skip locked)
  returning provider, id, live, account, shipment, payment, attempts`;

function claimEvents(em: EntityManager, now: Date): Promise<ClaimedEvent[]> {
  const until = new Date(now.getTime() + CLAIM_MS).toISOString();
  return runStatement<ClaimedEvent>(em, CLAIM, [now.toISOString(), until]);
}

const SET_DUE = "update payment_notice set due_at = $3 where provider = $1 and id = $2";

/**
 * Schedules a poll of the payment or account that an event is about. Retries an event about an
 * unknown payment, because the payment may be stored later.
 */
async function dispatchEvent(deps: PaymentJobDeps, event: ClaimedEvent): Promise<void> {
  const { em, log, now } = deps;
  const isKnown = await dispatchToOwners(deps, event);
  const retryMs = isKnown ? undefined : UNKNOWN_RETRIES_MS[event.attempts - 1];
  const dueAt = retryMs === undefined ? null : new Date(now().getTime() + retryMs).toISOString();
  await runStatement(em, SET_DUE, [event.provider, event.id, dueAt]);
  if (!isKnown && dueAt === null) log.info({ event: event.id }, "payment event dropped: unknown payment or account");
}

/** Selects the workspaces that use the event's account in the event's mode. */
const FIND_OWNERS = `
  select workspace_id::float8 as workspace from payment_connection
  where account = $1 and provider = $2 and live = $3`;

async function dispatchToOwners(deps: PaymentJobDeps, event: ClaimedEvent): Promise<boolean> {
  const { em, now } = deps;
  const { provider, live, account, shipment, payment } = event;
  const of = [account, provider, live];
  const owners = await runStatement<{ workspace: number }>(em, FIND_OWNERS, of);
  if (shipment === null && payment === null) {
    for (const { workspace } of owners) await scheduleAccountCheck(em, workspace, now());
    return owners.length > 0;
  }
  const woken = await Promise.all(
    owners.map(({ workspace }) => schedulePollOfEvent(em, workspace, { shipment, payment }, now())),
  );
  return woken.some(Boolean);
}

const PURGE = `
  delete from payment_notice where (provider, id) in (
    select provider, id from payment_notice where received_at < $1 limit $2 for update skip locked)
  returning 1`;

export function purgeProviderEvents(em: EntityManager, now: Date): Promise<number> {
  return deleteInBatches(em, PURGE, [new Date(now.getTime() - KEEP_MS).toISOString()]);
}
