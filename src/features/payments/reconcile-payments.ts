import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { unavailable } from "../../domain/refusal.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import type { ShipmentKey } from "../shipments/find-shipment.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import { applyLostAccess, applySnapshot, matchesTotal, pendingRefundAmount } from "./apply-snapshot.ts";
import { accountAccess, callProvider, type StoredAccess } from "./payment-connections.ts";
import { type AccountAccess, type PaymentSnapshot, ProviderRefused } from "./payment-provider.ts";
import { onlineProvider, type PaymentProviders } from "./payment-providers.ts";
import { LeaseLost, leasePayment, type LeasedPayment, releasePayment } from "./provider-payments.ts";
import {
  type AppliedSnapshot,
  type ApplyDeps,
  applyToShipment,
  openRequestedCheckout,
  type PaymentLease,
  requestRefund,
  refusalSnapshot,
} from "./reconcile-steps.ts";

export interface ReconcileDeps extends ApplyDeps {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly now: () => Date;
  readonly providers: PaymentProviders;
  readonly secretSeal: SecretSeal;
}

export interface ReconcileOptions {
  readonly expire?: boolean;
  /** Worker that already holds the lease. Default: a new worker. */
  readonly worker?: string;
  /** Maximum time to wait for another worker's lease, in milliseconds. Default: 0. */
  readonly waitMs?: number;
}

/** Result of a reconciliation. `busy` if another worker holds the lease, `none` if there is no checkout. */
type ReconcileOutcome = "reconciled" | "busy" | "none";

/**
 * Reconciles a shipment with its payment at the provider: reads the payment, applies it to the shipment, and then
 * opens or expires the checkout or makes a refund if needed. Can be interrupted at any point and repeated.
 *
 * @throws ProviderUnavailable if the payment will be retried, ProviderRefused if the provider opens no checkout or
 * the account is inaccessible
 */
export type ReconcilePayment = (key: ShipmentKey, options?: ReconcileOptions) => Promise<ReconcileOutcome>;

/** Maximum number of polls and actions per reconciliation. */
const MAX_ROUNDS = 5;
/** Minimum interval between polls of an open payment, in milliseconds. Events trigger earlier polls. */
const OPEN_MS = 3 * 60_000;
/**
 * Interval between polls of a checkout, as a fraction of its age. Most payments are made within minutes, so young
 * checkouts are polled more often.
 */
const OF_AGE = 1 / 4;
/** Interval between polls of old checkouts, disputes and blocked refunds, in milliseconds. */
const WAITING_MS = 60 * 60_000;
/** Minimum and maximum backoff after failures, in milliseconds. */
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 5 * 60_000;
/** Interval between attempts to acquire a lease, in milliseconds. */
const POLL_MS = 100;

export function createReconcilePayment(deps: ReconcileDeps): ReconcilePayment {
  const { em, log, now } = deps;

  async function lease(
    key: ShipmentKey,
    worker: string,
    waitMs: number,
  ): Promise<LeasedPayment | Exclude<ReconcileOutcome, "reconciled">> {
    const untilMs = performance.now() + waitMs;
    for (;;) {
      const leased = await leasePayment(em, key, worker, now());
      if (leased !== undefined) return leased;
      if (!(await exists(em, key))) return "none";
      if (performance.now() >= untilMs) return "busy";
      await sleep(POLL_MS);
    }
  }

  return async (key, { expire = false, worker = randomUUID(), waitMs = 0 } = {}) => {
    const leased = await lease(key, worker, waitMs);
    if (typeof leased === "string") return leased;
    const release = (dueAt: Date | null, failures: number) =>
      releasePayment(em, leased, worker, { dueAt, failures, now: now() });
    let step: ReconcileStep;
    try {
      step = await poll(deps, leased, worker, expire);
      await release(step.dueAt, step.isFailed === true ? leased.failures + 1 : 0);
    } catch (error) {
      const { workspace, reference } = key;
      log.warn({ err: error, workspace, shipment: reference }, "payment not reconciled");
      // If the database is unavailable, the lease expires.
      await release(retryAt(leased, now()), leased.failures + 1).catch(() => undefined);
      if (error instanceof LeaseLost) return "busy";
      throw error;
    }
    if (step.refused !== undefined) throw step.refused;
    return "reconciled";
  };
}

const EXISTS = "select 1 from provider_payment where workspace_id = $1 and shipment_reference = $2";

async function exists(em: EntityManager, { workspace, reference }: ShipmentKey): Promise<boolean> {
  return (await runStatement(em, EXISTS, [workspace, reference])).length > 0;
}

interface ReconcileStep {
  readonly dueAt: Date | null;
  /** Error of the provider, which is already stored with the shipment. */
  readonly refused?: ProviderRefused;
  /** Whether the poll failed, because the account is inaccessible or an action has had no effect. */
  readonly isFailed?: boolean;
}

/** Reconciles a leased payment. If the account is inaccessible, records that on the shipment. */
async function poll(
  deps: ReconcileDeps,
  leased: LeasedPayment,
  worker: string,
  expire: boolean,
): Promise<ReconcileStep> {
  // The provider refused this checkout, so there is no payment to poll.
  if (leased.state === "closed" && leased.checkout === null) return { dueAt: null };
  const { test, access } = await loadAccess(deps, leased);
  const suspend = async (reason: string): Promise<ReconcileStep> => {
    await applyToShipment(deps, leased, worker, {
      test,
      apply: (row, { version }, at) => applyLostAccess(row, { version, isOpen: leased.state === "open", reason }, at),
    });
    return { dueAt: null, isFailed: true };
  };
  if (access === undefined) return suspend("The account is no longer connected.");
  const online = onlineProvider(deps.providers, leased.provider);
  try {
    return await reconcile(deps, { leased, worker, online, access, test }, expire);
  } catch (error) {
    if (!(error instanceof ProviderRefused) || error.kind !== "revoked") throw error;
    return { ...(await suspend(error.message)), refused: error };
  }
}

/** Polls the payment, applies the snapshot and acts, until no action is needed. */
async function reconcile(deps: ReconcileDeps, lease: PaymentLease, expire: boolean): Promise<ReconcileStep> {
  const { em, now } = deps;
  const { worker, online, access, test } = lease;
  let { leased } = lease;
  let isExpired = false;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const opened = await openRequestedCheckout(em, { ...lease, leased });
    const { refused } = opened;
    leased = opened.leased;
    const read =
      refused === undefined
        ? await online.findPayment(access, leased.checkout!)
        : refusalSnapshot(refused, leased.currency);
    const snapshot = isExpired && read.status === "failed" ? { ...read, error: null } : read;
    const applied = await applyToShipment(deps, leased, worker, {
      test,
      state: snapshot.checkout === null ? "closed" : "open",
      payment: snapshot.payment,
      apply: (row, known, at) => applySnapshot(row, snapshot, known, at),
    });
    if (refused !== undefined) return { dueAt: null, refused };
    const action = nextAction(applied, snapshot, leased, expire);
    if (action === undefined) return { dueAt: nextPoll(applied.row, snapshot, now()) };
    if (action === "expire") {
      isExpired = true;
      await online.expireCheckout(access, leased.checkout!);
    } else {
      const known = { ...lease, leased };
      leased = await requestRefund(em, known, snapshot, applied.refundAttempt);
    }
  }
  // The snapshot does not show the last action yet, or the provider repeatedly refused to expire the checkout.
  return { dueAt: retryAt(leased, now()), isFailed: true };
}

/** Returns the time of the next attempt after a failed poll, with exponential backoff. */
function retryAt({ failures }: LeasedPayment, now: Date): Date {
  return new Date(now.getTime() + Math.min(RETRY_MS * 2 ** Math.min(failures, 10), MAX_RETRY_MS));
}

const SELECT_CONNECTION = `
  select workspace.twin_of is not null as test, account, live, own_key as "ownKey"
  from workspace left join payment_connection on workspace_id = $1 where workspace.id = $1`;

type StoredConnection = Omit<StoredAccess, "workspace"> & Pick<PaymentLease, "test">;

/** Returns the access to a payment's account, or `undefined` if that account is no longer connected. */
async function loadAccess(
  { em, secretSeal }: ReconcileDeps,
  { workspace, account }: LeasedPayment,
): Promise<Pick<PaymentLease, "test"> & { readonly access: AccountAccess | undefined }> {
  const [connection] = await runStatement<StoredConnection>(em, SELECT_CONNECTION, [workspace]);
  const isConnected = connection!.account === account;
  const access = isConnected ? accountAccess({ ...connection!, workspace }, secretSeal) : undefined;
  return { test: connection!.test, access };
}

function nextAction(
  { row, refundAttempt }: AppliedSnapshot,
  snapshot: PaymentSnapshot,
  leased: LeasedPayment,
  expire: boolean,
): "expire" | "refund" | undefined {
  if (snapshot.checkout !== null) {
    const isWanted = row.paymentStatus === "awaiting_payment" && matchesTotal(leased, row);
    return isWanted && !expire ? undefined : "expire";
  }
  if (row.paymentStatus !== "refund_pending" || snapshot.status !== "paid") return undefined;
  const isTried = snapshot.refunds.some(({ attempt }) => (attempt ?? 0) >= refundAttempt);
  const isStuck = row.paymentDetails?.refundError !== null;
  if (isTried || isStuck || snapshot.isRefundBlocked || pendingRefundAmount(snapshot) > 0) return undefined;
  return "refund";
}

function nextPoll(row: ShipmentRow, snapshot: PaymentSnapshot, now: Date): Date | null {
  const { paymentStatus, paymentDetails } = row;
  const inMs = (ms: number) => new Date(now.getTime() + ms);
  if (snapshot.checkout !== null || snapshot.status === "processing") return inMs(untilNextPoll(snapshot, now));
  const isRefundOpen = paymentStatus === "refund_pending" && snapshot.status === "paid";
  if (isRefundOpen && paymentDetails?.refundError === null && !snapshot.isRefundBlocked) {
    return inMs(OPEN_MS);
  }
  return isRefundOpen || snapshot.dispute === "open" ? inMs(WAITING_MS) : null;
}

/**
 * Returns the interval until the next poll of an open or processing checkout, in milliseconds. The poll takes place no
 * later than the checkout's expiry.
 */
function untilNextPoll({ checkout, openedAt }: PaymentSnapshot, now: Date): number {
  const ageMs = now.getTime() - (openedAt ?? now).getTime();
  const ms = Math.min(Math.max(OPEN_MS, ageMs * OF_AGE), WAITING_MS);
  const leftMs = checkout === null ? ms : checkout.expiresAt.getTime() - now.getTime();
  return leftMs > 0 ? Math.min(ms, leftMs) : OPEN_MS;
}

/** Maximum time that a caller waits for another worker's lease, in milliseconds. */
const WAIT_MS = 5_000;

/**
 * Reconciles a payment while the caller waits.
 *
 * @throws Refusal UNAVAILABLE if the provider does not respond or another worker takes too long,
 *   PAYMENT_PROVIDER_REFUSED, PAYMENT_PROVIDER_NOT_CONFIGURED
 */
export async function reconcileForCall(
  reconcilePayment: ReconcilePayment,
  key: ShipmentKey,
  options: Omit<ReconcileOptions, "waitMs"> = {},
): Promise<void> {
  const outcome = await callProvider(() => reconcilePayment(key, { ...options, waitMs: WAIT_MS }));
  if (outcome === "busy") {
    const text = "The payment is being checked. Try again in a moment.";
    throw unavailable(text, undefined, { facts: { waits_for: "payment_provider" } });
  }
}
