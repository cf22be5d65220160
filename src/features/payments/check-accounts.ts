import type { Logger } from "pino";
import type { LeasedQueue, WorkItem } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { type DueRow, findDue } from "../../db/platform-reads.ts";
import { runStatement } from "../../db/statement.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import type { ConnectionState, PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { accountAccess, type StoredAccess } from "./payment-connections.ts";
import type { AccountAccess, OnlinePayments } from "./payment-provider.ts";
import type { PaymentProviders } from "./payment-providers.ts";
import { resumePolling } from "./provider-payments.ts";
import { storeEvents } from "./receive-event.ts";

/** Intervals between checks of a ready account and of any other account, in milliseconds. */
const READY_MS = 60 * 60_000;
const NOT_READY_MS = 5 * 60_000;
/** Delay before retrying payments that a ready account refused, in milliseconds. */
const RESUME_MS = 60_000;
const CONCURRENCY = { total: 8, perWorkspace: 1 };
/** Time until another process can claim an unfinished check, in milliseconds. */
const CLAIM_MS = 2 * 60_000;
/** Maximum age of the events that providers can list, in milliseconds. */
const LISTED_MS = 30 * 24 * 60 * 60_000;
/**
 * Overlap of the time spans of two listings, in milliseconds, because providers list some events late and clocks
 * differ.
 */
const OVERLAP_MS = 10 * 60_000;
/** Maximum number of pages per time span. A longer list is split into shorter spans. */
const MAX_PAGES = 5;
const MIN_SPAN_MS = 1_000;

export interface CheckAccountsDeps {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly now: () => Date;
  readonly providers: PaymentProviders;
  readonly secretSeal: SecretSeal;
}

export function nextCheck(state: ConnectionState, now: Date): Date {
  return new Date(now.getTime() + (state === "ready" ? READY_MS : NOT_READY_MS));
}

const FIND_DUE = `
  select workspace_id::float8 as workspace, extract(epoch from check_at)::float8 as due
  from payment_connection
  where check_at <= $1 and workspace_id <> all ($3::bigint[]) order by check_at limit $2::int`;

/**
 * Returns the queue of accounts that are due for a check. A check reads the account and backfills
 * provider events whose webhook deliveries were lost.
 */
export function accountCheckQueue(deps: CheckAccountsDeps): LeasedQueue {
  const { em, now } = deps;
  return {
    name: "payment_accounts",
    outcomes: ["checked", "failed", "lost"],
    concurrency: CONCURRENCY,
    find: ({ limit, exceptWorkspaces: except }) =>
      findDue<WorkItem & DueRow>(em, { sql: FIND_DUE, values: [now().toISOString(), limit, except] }, limit),
    work: ({ workspace }) => checkAccount(deps, workspace),
  };
}

const SCHEDULE = `
  update payment_connection set check_at = $2 where workspace_id = $1 and account is not null
  returning 1`;

/** Schedules an immediate check of a workspace's account. Returns whether the workspace has an account. */
export async function scheduleAccountCheck(em: EntityManager, workspace: number, now: Date): Promise<boolean> {
  return (await runStatement(em, SCHEDULE, [workspace, now.toISOString()])).length > 0;
}

type Claimed = StoredAccess &
  Pick<PaymentConnection, "provider" | "state"> & {
    readonly eventsReadUntil: Date | string | null;
  };

/** Claims a check by postponing it, so that no other process runs it at the same time. */
const CLAIM = `
  update payment_connection set check_at = $3
  where workspace_id = $1 and check_at <= $2 and account is not null
  returning workspace_id::float8 as workspace, provider, account, live, own_key as "ownKey", state,
    heard_until as "eventsReadUntil"`;

/** Stores the state of an account, unless the account was replaced or a later check finished first. */
const WRITE = `
  update payment_connection set state = $3, missing = $4, checked_at = $5
  where workspace_id = $1 and account = $2 and checked_at <= $5`;

/** Schedules the next check. Keeps the time of a check that was requested in the meantime. */
const RELEASE = `
  update payment_connection set check_at = $3 where workspace_id = $1 and check_at = $2`;

/** Checks an account. Logs provider errors instead of throwing them. */
async function checkAccount(deps: CheckAccountsDeps, workspace: number): Promise<string> {
  const { em, log, now, providers, secretSeal } = deps;
  const startedAt = now();
  const claimedUntil = new Date(startedAt.getTime() + CLAIM_MS).toISOString();
  const claim = [workspace, startedAt.toISOString(), claimedUntil];
  const [connection] = await runStatement<Claimed>(em, CLAIM, claim);
  const online = connection && providers[connection.provider].online;
  if (connection === undefined || online === undefined) return "lost";
  let outcome = "checked";
  let next = new Date(startedAt.getTime() + NOT_READY_MS);
  try {
    const access = accountAccess(connection, secretSeal);
    const { account, state, missing } = await online.readAccount(access);
    const read = [account, state, JSON.stringify(missing), startedAt.toISOString()];
    await runStatement(em, WRITE, [workspace, ...read]);
    if (state !== connection.state) log.info({ workspace, state }, "payment account changed");
    if (state !== "revoked") {
      // A ready account may refuse the same payments again, so their retries are delayed.
      const waitMs = connection.state === "revoked" ? 0 : RESUME_MS;
      await resumePolling(em, { workspace, account }, new Date(startedAt.getTime() + waitMs));
    }
    next = nextCheck(state, startedAt);
    if (state !== "revoked" && !(await listMissed(deps, connection, online, access))) next = now();
  } catch (error) {
    log.warn({ err: error, workspace }, "payment account not checked");
    outcome = "failed";
  }
  await runStatement(em, RELEASE, [workspace, claimedUntil, next.toISOString()]);
  return outcome;
}

/** Stores the time up to which events were read, unless the account was replaced. */
const STORE_READ_UNTIL = `
  update payment_connection set heard_until = $3 where workspace_id = $1 and account = $2`;

/**
 * Backfills provider events since the last check as if each had arrived by webhook.
 *
 * @returns whether all events were read
 */
async function listMissed(
  { em, log, now }: CheckAccountsDeps,
  { workspace, provider, account, eventsReadUntil }: Claimed,
  online: OnlinePayments,
  access: AccountAccess,
): Promise<boolean> {
  const at = now();
  const listedMs = at.getTime() - LISTED_MS;
  const from = new Date(Math.max(new Date(eventsReadUntil ?? 0).getTime(), listedMs));
  let to = at;
  for (;;) {
    let after: string | undefined;
    let pages = 0;
    do {
      const span = after === undefined ? { from, to } : { from, to, after };
      const { events, next } = await online.listEvents(access, span);
      const stored = await storeEvents(em, { provider, account: account!, events, at });
      if (stored > 0) log.info({ workspace, events: stored }, "missed payment events backfilled");
      after = next;
    } while (after !== undefined && ++pages < MAX_PAGES);
    const spanMs = to.getTime() - from.getTime();
    if (after === undefined || spanMs <= MIN_SPAN_MS) break;
    // Continue with the older half. The next check lists the newer half again and skips duplicates.
    to = new Date(from.getTime() + spanMs / 2);
  }
  const isAll = to === at;
  const readUntil = isAll ? new Date(at.getTime() - OVERLAP_MS) : to;
  await runStatement(em, STORE_READ_UNTIL, [workspace, account, readUntil.toISOString()]);
  return isAll;
}
