import type { LeasedQueue, WorkItem } from "../../db/leased-queue.ts";
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
 * other payments are separate queues with these limits.
 */
const CONCURRENCY = { total: 16, perWorkspace: 8 };
/** Maximum number of events that a process dispatches concurrently. */
const MAX_EVENTS = 8;
/**
 * Delays before an event about an unknown payment is retried, in milliseconds. After the last retry
 * the event is dropped.
 */
const UNKNOWN_RETRIES_MS = [5_000, 60_000, 10 * 60_000, 60 * 60_000];
/** Time until another process can claim unfinished events, in milliseconds. */
const CLAIM_MS = 2 * 60_000;
/** Retention of provider events, in milliseconds. Providers may redeliver events during this time. */
const RETENTION_MS = 30 * 24 * 60 * 60_000;

/** Creates the queues of provider payments. */
export function createPaymentQueues(deps: PaymentJobDeps): readonly LeasedQueue[] {
  const { em, now } = deps;
  const payments = (name: string, isNotified: boolean): LeasedQueue<ShipmentKey> => ({
    name,
    outcomes: ["reconciled", "failed", "lost"],
    concurrency: CONCURRENCY,
    find: ({ limit, exceptWorkspaces }) => findDuePayments(em, isNotified, now(), limit, exceptWorkspaces),
    work: (key) => reconcile(deps, key),
  });
  const events: LeasedQueue<ClaimedEvent> = {
    name: "payment_events",
    outcomes: ["dispatched", "unknown"],
    concurrency: { total: MAX_EVENTS, perWorkspace: MAX_EVENTS },
    find: ({ room }) => claimEvents(em, now(), room),
    work: (event) => dispatchEvent(deps, event),
  };
  return [events, payments("notified_payments", true), payments("payments", false), accountCheckQueue(deps)];
}

/** Errors that `reconcilePayment` has already logged. A Refusal means that a key cannot be decrypted. */
const LOGGED_ERRORS = [ProviderRefused, ProviderUnavailable, Refusal];

/** Reconciles a payment. Swallows provider errors, because the payment is retried later. */
async function reconcile(deps: PaymentJobDeps, key: ShipmentKey): Promise<string | undefined> {
  try {
    const outcome = await deps.reconcilePayment(key);
    return outcome === "reconciled" ? outcome : "lost";
  } catch (error) {
    if (error instanceof ProviderRefused && error.kind === "revoked") {
      await scheduleAccountCheck(deps.em, key.workspace, deps.now());
    } else if (!LOGGED_ERRORS.some((expected) => error instanceof expected)) throw error;
    return "failed";
  }
}

interface ClaimedEvent extends WorkItem, Row<StoredProviderEvent, "type" | "receivedAt" | "dueAt"> {}

/** Claims due events and skips those that concurrent processes are claiming. */
const CLAIM = `
  update payment_notice set due_at = $2, attempts = attempts + 1
  where (provider, id) in (
    select provider, id from payment_notice where due_at <= $1
    order by due_at limit $3 for update skip locked)
  returning 0 as workspace, provider || ' ' || id as reference, provider, id, live, account, shipment, payment, attempts`;

function claimEvents(em: EntityManager, now: Date, limit: number): Promise<ClaimedEvent[]> {
  const until = new Date(now.getTime() + CLAIM_MS).toISOString();
  return runStatement<ClaimedEvent>(em, CLAIM, [now.toISOString(), until, limit]);
}

const SET_DUE = "update payment_notice set due_at = $3 where provider = $1 and id = $2";
const DROP = "delete from payment_notice where provider = $1 and id = $2";

/**
 * Schedules a poll of the payment or account that an event is about. Retries an event about an
 * unknown payment, because the payment may be stored later.
 */
async function dispatchEvent(deps: PaymentJobDeps, event: ClaimedEvent): Promise<string> {
  const { em, log, now } = deps;
  const isKnown = await dispatchToOwners(deps, event);
  const retryMs = isKnown ? undefined : UNKNOWN_RETRIES_MS[event.attempts - 1];
  const key = [event.provider, event.id];
  if (isKnown || retryMs !== undefined) {
    const dueAt = retryMs === undefined ? null : new Date(now().getTime() + retryMs).toISOString();
    await runStatement(em, SET_DUE, [...key, dueAt]);
  } else {
    // Deleted, so that the backfill of an account that is connected again does not skip the event as a duplicate.
    await runStatement(em, DROP, key);
    log.info({ event: event.id }, "payment event dropped: unknown payment or account");
  }
  return isKnown ? "dispatched" : "unknown";
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
  return deleteInBatches(em, PURGE, [new Date(now.getTime() - RETENTION_MS).toISOString()]);
}
