import type { Row } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { type DueRow, findDue } from "../../db/platform-reads.ts";
import { runStatement } from "../../db/statement.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { ShipmentKey } from "../shipments/find-shipment.ts";
import type { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import type { ProviderPayment } from "./provider-payment.entity.ts";

/** Duration of a lease on a payment, in milliseconds. Must be longer than several provider calls. */
const LEASE_MS = 60_000;

/** Returns the expiry of a lease that starts now, as an SQL parameter. */
export function leaseExpiry(now: Date): string {
  return new Date(now.getTime() + LEASE_MS).toISOString();
}

export type LeasedPayment = Row<
  ProviderPayment,
  "shipment" | "expiresAt" | "dueAt" | "isNotified" | "worker" | "leasedUntil"
> & { readonly shipment: string; readonly expiresAtMs: number };

/**
 * Columns of a leased payment. Times are converted in code, because distributed databases reject time zone functions in
 * `returning`.
 */
const LEASED_COLUMNS = `
  workspace_id::float8 as workspace, shipment_reference as shipment, provider, account, version, state,
  amount_minor::float8 as "amountMinor", currency, success_url as "successUrl",
  cancel_url as "cancelUrl", expires_at as "expiresAt",
  checkout, payment, refund_attempt as "refundAttempt", refund_refusal as "refundRefusal", failures,
  wakes as "pollRequests"`;

type Leased = Omit<LeasedPayment, "expiresAtMs"> & { readonly expiresAt: Date | string };

const LEASE = `
  update provider_payment set worker = $3, leased_until = $4
  where workspace_id = $1 and shipment_reference = $2
    and (leased_until is null or leased_until <= $5::timestamptz or worker = $3)
  returning ${LEASED_COLUMNS}`;

/**
 * Leases a payment, or renews the worker's lease. Returns `undefined` if another worker holds the
 * lease or the payment does not exist.
 */
export async function leasePayment(
  em: EntityManager,
  { workspace, reference }: ShipmentKey,
  worker: string,
  now: Date,
): Promise<LeasedPayment | undefined> {
  const values = [workspace, reference, worker, leaseExpiry(now), now.toISOString()];
  const [row] = await runStatement<Leased>(em, LEASE, values);
  if (row === undefined) return undefined;
  const { expiresAt, ...leased } = row;
  return { ...leased, expiresAtMs: new Date(expiresAt).getTime() };
}

/**
 * Stores the result of a provider call. Skips a row whose checkout or refund attempt was replaced by a newer request.
 */
const STORE_CALL_RESULT = `
  update provider_payment set state = $5, checkout = $6,
    refund_refusal = case when refund_attempt = $7 then $8 else refund_refusal end
  where workspace_id = $1 and shipment_reference = $2 and worker = $3 and version = $4
  returning 1`;

/** Thrown if the lease on a payment expired or its checkout was replaced. Another poll follows. */
export class LeaseLost extends Error {
  constructor() {
    super("the lease on the payment was lost");
    this.name = "LeaseLost";
  }
}

/**
 * Stores the result of a provider call immediately, so that a crash does not lose it.
 *
 * @throws LeaseLost
 */
export async function storeCallResult(
  em: EntityManager,
  leased: LeasedPayment,
  worker: string,
  facts: Partial<Pick<LeasedPayment, "state" | "checkout" | "refundRefusal">>,
): Promise<LeasedPayment> {
  const updated = { ...leased, ...facts };
  const { workspace, shipment, version, state, checkout, refundAttempt } = updated;
  const [stored] = await runStatement(em, STORE_CALL_RESULT, [
    workspace,
    shipment,
    worker,
    version,
    state,
    checkout,
    refundAttempt,
    updated.refundRefusal,
  ]);
  if (stored === undefined) throw new LeaseLost();
  return updated;
}

export type SnapshotFacts = Pick<LeasedPayment, "state" | "payment">;

const STORE_SNAPSHOT = `
  update provider_payment set state = coalesce($5, state), payment = coalesce($6, payment)
  where workspace_id = $1 and shipment_reference = $2 and worker = $3 and version = $4
  returning refund_attempt as "refundAttempt", refund_refusal as "refundRefusal"`;

/**
 * Stores data from a snapshot in the transaction that changes the shipment. Returns `undefined` if the lease was lost.
 */
export async function storeSnapshot(
  tx: Transaction,
  { workspace, shipment, version }: LeasedPayment,
  worker: string,
  { state, payment }: Partial<SnapshotFacts>,
): Promise<Pick<LeasedPayment, "refundAttempt" | "refundRefusal"> | undefined> {
  type Refund = Pick<LeasedPayment, "refundAttempt" | "refundRefusal">;
  const values = [workspace, shipment, worker, version, state ?? null, payment ?? null];
  return (await tx.send<Refund>(STORE_SNAPSHOT, values))[0];
}

const START_ATTEMPT = `
  update provider_payment set refund_attempt = refund_attempt + 1
  where workspace_id = $1 and shipment_reference = $2 and worker = $3`;

/** Starts another refund attempt with a new key, because repeating the previous key cannot succeed. */
export async function startRefundAttempt(
  em: EntityManager,
  { workspace, shipment }: LeasedPayment,
  worker: string,
): Promise<void> {
  await runStatement(em, START_ATTEMPT, [workspace, shipment, worker]);
}

const RELEASE = `
  update provider_payment set worker = null, leased_until = null, failures = $4,
    due_at = case when wakes = $5 then $6::timestamptz else $7::timestamptz end,
    told = told and (wakes <> $5 or $4 > 0 and $6::timestamptz is not null)
  where workspace_id = $1 and shipment_reference = $2 and worker = $3`;

/**
 * Releases a lease and schedules the next poll.
 *
 * @param dueAt time of the next poll, null for none. A poll requested during the lease is due immediately.
 */
export async function releasePayment(
  em: EntityManager,
  { workspace, shipment, pollRequests }: LeasedPayment,
  worker: string,
  { dueAt, failures, now }: { readonly dueAt: Date | null; readonly failures: number; readonly now: Date },
): Promise<void> {
  await runStatement(em, RELEASE, [
    workspace,
    shipment,
    worker,
    failures,
    pollRequests,
    dueAt?.toISOString() ?? null,
    now.toISOString(),
  ]);
}

const SCHEDULE = `
  update provider_payment set due_at = $3, told = true, wakes = wakes + 1, failures = 0
  where workspace_id = $1 and shipment_reference = $2`;

/** Schedules an immediate poll of a payment when the transaction commits. A no-op if there is no payment. */
export function schedulePoll(tx: Transaction, { workspace, reference }: ShipmentKey, now: Date): void {
  void tx.send(SCHEDULE, [workspace, reference, now.toISOString()]);
}

const SCHEDULE_OF_EVENT = `
  update provider_payment set due_at = $4, told = true, wakes = wakes + 1
  where workspace_id = $1 and (shipment_reference = $2 or payment = $3)
  returning 1`;

/** Schedules an immediate poll of the payment that an event names. Returns whether the payment exists. */
export async function schedulePollOfEvent(
  em: EntityManager,
  workspace: number,
  named: { readonly shipment: string | null; readonly payment: string | null },
  now: Date,
): Promise<boolean> {
  const values = [workspace, named.shipment, named.payment, now.toISOString()];
  return (await runStatement(em, SCHEDULE_OF_EVENT, values)).length > 0;
}

const RESUME = `
  update provider_payment set due_at = $3, wakes = wakes + 1, failures = 0
  where workspace_id = $1 and account = $2 and due_at is null and failures > 0`;

/**
 * Resumes polling of payments whose account was inaccessible. Called after every successful read of the account,
 * because a short loss of access may never appear in the stored account state.
 */
export async function resumePolling(
  em: EntityManager,
  { workspace, account }: Pick<PaymentConnection, "workspace" | "account">,
  dueAt: Date,
): Promise<void> {
  await runStatement(em, RESUME, [workspace, account, dueAt.toISOString()]);
}

const RETRY = `
  update provider_payment set due_at = $3, told = true, wakes = wakes + 1, failures = 0,
    refund_attempt = refund_attempt + 1, refund_refusal = null
  where workspace_id = $1 and shipment_reference = $2`;

export function scheduleRefundRetry(tx: Transaction, { workspace, reference }: ShipmentKey, now: Date): void {
  void tx.send(RETRY, [workspace, reference, now.toISOString()]);
}

const findDueSql = (condition: string) =>
  `
  select workspace_id::float8 as workspace, shipment_reference as reference,
    extract(epoch from due_at)::float8 as due
  from provider_payment where ${condition}due_at <= $1 and (leased_until is null or leased_until <= $1)
    and workspace_id <> all($3::bigint[])
  order by due_at limit $2::int`;
const FIND_DUE = findDueSql("");
const FIND_NOTIFIED = findDueSql("told and ");

/**
 * Returns due payments that are not leased, from all workspaces, oldest first.
 *
 * @param isNotified whether to return only payments with a new event or a waiting caller
 */
export function findDuePayments(
  em: EntityManager,
  isNotified: boolean,
  now: Date,
  limit: number,
  exceptWorkspaces: readonly number[],
): Promise<ShipmentKey[]> {
  const values = [now.toISOString(), limit, exceptWorkspaces];
  return findDue<ShipmentKey & DueRow>(em, { sql: isNotified ? FIND_NOTIFIED : FIND_DUE, values }, limit);
}
