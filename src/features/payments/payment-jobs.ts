import { createWorkers, type Workers } from "../../db/leased-queue.ts";
import { deleteInBatches, runStatement } from "../../db/statement.ts";
import type { Row } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { Refusal } from "../../domain/refusal.ts";
import { accountsToCheck, wakeAccount } from "./check-accounts.ts";
import type { PaymentNotice } from "./payment-notice.entity.ts";
import { ProviderRefused, ProviderUnanswered } from "./payment-provider.ts";
import { findDuePayments, wakeNamed } from "./provider-payments.ts";
import type { SettleDeps, SettlePayment } from "./settle-payments.ts";
import type { ShipmentKey } from "../shipments/find-shipment.ts";

export interface PaymentJobDeps extends SettleDeps {
  readonly settlePayment: SettlePayment;
}

/** How many payments a process looks at at once of each kind, notified or not, and of one workspace. */
const AT_ONCE = { atOnce: 16, ofWorkspace: 8 };
const MAX_NOTICES = 100;
/** When to look again at a notice of something unknown, in milliseconds; then it is given up. */
const UNKNOWN_RETRIES_MS = [5_000, 60_000, 10 * 60_000, 60 * 60_000];
/** How long a process that looks at notices has for that before others do, in milliseconds. */
const CLAIM_MS = 2 * 60_000;
/** How long notices are kept, in milliseconds: as long as a provider may send them again. */
const KEEP_MS = 30 * 24 * 60 * 60_000;

/** Builds the work that payments at providers need, of which none waits for the other. */
export function createPaymentJobs(deps: PaymentJobDeps): readonly Workers[] {
  const { em, log, now } = deps;
  const failed = (error: unknown) => log.warn({ err: error }, "work on payments failed");
  const payments = (isTold: boolean) =>
    createWorkers(
      {
        ...AT_ONCE,
        find: (limit, except) => findDuePayments(em, isTold, now(), limit, except),
        work: (key) => settle(deps, key),
      },
      failed,
    );
  return [
    { begin: () => dispatchNotices(deps), idle: async () => undefined },
    payments(true),
    payments(false),
    createWorkers(accountsToCheck(deps), failed),
  ];
}

async function dispatchNotices(deps: PaymentJobDeps): Promise<boolean> {
  const notices = await claimNotices(deps.em, deps.now());
  for (const notice of notices) await dispatchNotice(deps, notice);
  return notices.length === MAX_NOTICES;
}

/** What a look may end in; a Refusal where a key cannot be opened. */
const EXPECTED = [ProviderRefused, ProviderUnanswered, Refusal];

/** What goes wrong at the provider is logged, and another look is due. */
async function settle(deps: PaymentJobDeps, key: ShipmentKey): Promise<void> {
  try {
    await deps.settlePayment(key);
  } catch (error) {
    if (error instanceof ProviderRefused && error.kind === "revoked") {
      await wakeAccount(deps.em, key.workspace, deps.now());
    } else if (!EXPECTED.some((expected) => error instanceof expected)) throw error;
  }
}

type ClaimedNotice = Row<PaymentNotice, "type" | "receivedAt" | "dueAt">;

/** Of processes that look at the same time, each takes other notices. */
const CLAIM = `
  update payment_notice set due_at = $2, attempts = attempts + 1
  where (provider, id) in (
    select provider, id from payment_notice where due_at <= $1
    order by due_at limit ${MAX_NOTICES} for update skip locked)
  returning provider, id, live, account, shipment, payment, attempts`;

function claimNotices(em: EntityManager, now: Date): Promise<ClaimedNotice[]> {
  const until = new Date(now.getTime() + CLAIM_MS).toISOString();
  return runStatement<ClaimedNotice>(em, CLAIM, [now.toISOString(), until]);
}

const SET_DUE = "update payment_notice set due_at = $3 where provider = $1 and id = $2";

/** Has looked at what a notice is about; what is unknown yet may be known in a while. */
async function dispatchNotice(deps: PaymentJobDeps, notice: ClaimedNotice): Promise<void> {
  const { em, log, now } = deps;
  const isKnown = await dispatchToOwners(deps, notice);
  const retryMs = isKnown ? undefined : UNKNOWN_RETRIES_MS[notice.attempts - 1];
  const dueAt = retryMs === undefined ? null : new Date(now().getTime() + retryMs).toISOString();
  await runStatement(em, SET_DUE, [notice.provider, notice.id, dueAt]);
  if (!isKnown && dueAt === null)
    log.info({ notice: notice.id }, "payment notice is about nothing known");
}

/** Whose account a notice is about: of all workspaces, or of all test twins. */
const FIND_OWNERS = `
  select workspace_id::float8 as workspace from payment_connection
  where account = $1 and provider = $2 and live = $3`;

async function dispatchToOwners(deps: PaymentJobDeps, notice: ClaimedNotice): Promise<boolean> {
  const { em, now } = deps;
  const { provider, live, account, shipment, payment } = notice;
  const of = [account, provider, live];
  const owners = await runStatement<{ workspace: number }>(em, FIND_OWNERS, of);
  if (shipment === null && payment === null) {
    for (const { workspace } of owners) await wakeAccount(em, workspace, now());
    return owners.length > 0;
  }
  const woken = await Promise.all(
    owners.map(({ workspace }) => wakeNamed(em, workspace, { shipment, payment }, now())),
  );
  return woken.some(Boolean);
}

const PURGE = `
  delete from payment_notice where (provider, id) in (
    select provider, id from payment_notice where received_at < $1 limit $2 for update skip locked)
  returning 1`;

export function purgeNotices(em: EntityManager, now: Date): Promise<number> {
  return deleteInBatches(em, PURGE, [new Date(now.getTime() - KEEP_MS).toISOString()]);
}
