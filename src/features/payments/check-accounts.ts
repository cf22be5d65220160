import type { Logger } from "pino";
import type { LeasedQueue, WorkItem } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { type DueRow, findDue } from "../../db/platform-reads.ts";
import { runStatement } from "../../db/statement.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import type {
  ConnectionState,
  PaymentConnection,
} from "../workspaces/payment-connection.entity.ts";
import { accessOf, type StoredAccess } from "./payment-connections.ts";
import type { AccountAccess, OnlinePayments } from "./payment-provider.ts";
import type { PaymentProviders } from "./payment-providers.ts";
import { wakeLeftPayments } from "./provider-payments.ts";
import { keepNotices } from "./receive-notice.ts";

/** How often to check an account that takes payments, and one that does not, in milliseconds. */
const READY_MS = 60 * 60_000;
const NOT_READY_MS = 5 * 60_000;
/** How soon to look at payments that an account refused though it is ready, in milliseconds. */
const LEFT_MS = 60_000;
const AT_ONCE = 8;
/** How long a process that checks an account has for that before others do, in milliseconds. */
const CLAIM_MS = 2 * 60_000;
/** How far back a provider lists what it has told, in milliseconds. */
const LISTED_MS = 30 * 24 * 60 * 60_000;
/** What is listed again once all was, in milliseconds: some is listed late, and clocks differ. */
const OVERLAP_MS = 10 * 60_000;
/** How many pages of a span one check reads, before it tries a shorter one. */
const MAX_PAGES = 5;
const MIN_SPAN_MS = 1_000;

export interface CheckAccountsDeps {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly now: () => Date;
  readonly providers: PaymentProviders;
  readonly secretSeal: SecretSeal;
}

/** When to check an account again that was in a state. */
export function nextCheck(state: ConnectionState, now: Date): Date {
  return new Date(now.getTime() + (state === "ready" ? READY_MS : NOT_READY_MS));
}

/** Of all workspaces. */
const FIND_DUE = `
  select workspace_id::float8 as workspace, extract(epoch from check_at)::float8 as due
  from payment_connection
  where check_at <= $1 and workspace_id <> all ($3::bigint[]) order by check_at limit $2::int`;

/**
 * The accounts that are due to be checked: each is read anew, and what its provider has told is listed,
 * should notices have been lost.
 */
export function accountsToCheck(deps: CheckAccountsDeps): LeasedQueue<WorkItem> {
  const { em, now } = deps;
  return {
    atOnce: AT_ONCE,
    ofWorkspace: 1,
    find: (limit, except) =>
      findDue<WorkItem & DueRow>(
        em,
        { sql: FIND_DUE, values: [now().toISOString(), limit, except] },
        limit,
      ),
    work: ({ workspace }) => checkAccount(deps, workspace),
  };
}

const WAKE = `
  update payment_connection set check_at = $2 where workspace_id = $1 and account is not null
  returning 1`;

/** Has the account of a workspace checked at once; says whether there is one. */
export async function wakeAccount(
  em: EntityManager,
  workspace: number,
  now: Date,
): Promise<boolean> {
  return (await runStatement(em, WAKE, [workspace, now.toISOString()])).length > 0;
}

type Claimed = StoredAccess &
  Pick<PaymentConnection, "provider" | "state"> & { readonly heardUntil: Date | string | null };

/** Of processes that look at the same time, one checks the account. */
const CLAIM = `
  update payment_connection set check_at = $3
  where workspace_id = $1 and check_at <= $2 and account is not null
  returning workspace_id::float8 as workspace, provider, account, live, own_key as "ownKey", state,
    heard_until as "heardUntil"`;

/** Not another account that has replaced it, nor what was read later. */
const WRITE = `
  update payment_connection set state = $3, missing = $4, checked_at = $5
  where workspace_id = $1 and account = $2 and checked_at <= $5`;

/** Unless another check was asked for since. */
const RELEASE = `
  update payment_connection set check_at = $3 where workspace_id = $1 and check_at = $2`;

/** Never rejects for the provider's sake. */
async function checkAccount(deps: CheckAccountsDeps, workspace: number): Promise<void> {
  const { em, log, now, providers, secretSeal } = deps;
  const startedAt = now();
  const claimedUntil = new Date(startedAt.getTime() + CLAIM_MS).toISOString();
  const claim = [workspace, startedAt.toISOString(), claimedUntil];
  const [connection] = await runStatement<Claimed>(em, CLAIM, claim);
  const online = connection && providers[connection.provider].online;
  if (connection === undefined || online === undefined) return;
  let next = new Date(startedAt.getTime() + NOT_READY_MS);
  try {
    const access = accessOf(connection, secretSeal);
    const { account, state, missing } = await online.readAccount(access);
    const read = [account, state, JSON.stringify(missing), startedAt.toISOString()];
    await runStatement(em, WRITE, [workspace, ...read]);
    if (state !== connection.state) log.info({ workspace, state }, "payment account changed");
    if (state !== "revoked") {
      // An account that was ready all along may refuse them again: they are not hurried.
      const waitMs = connection.state === "revoked" ? 0 : LEFT_MS;
      await wakeLeftPayments(em, { workspace, account }, new Date(startedAt.getTime() + waitMs));
    }
    next = nextCheck(state, startedAt);
    if (state !== "revoked" && !(await listMissed(deps, connection, online, access))) next = now();
  } catch (error) {
    log.warn({ err: error, workspace }, "payment account not checked");
  }
  await runStatement(em, RELEASE, [workspace, claimedUntil, next.toISOString()]);
}

/** Not another account that has replaced it. */
const HEARD = `
  update payment_connection set heard_until = $3 where workspace_id = $1 and account = $2`;

/**
 * Keeps what the provider has told since it was last asked, as if a notice had come of each.
 *
 * @returns whether that was all
 */
async function listMissed(
  { em, log, now }: CheckAccountsDeps,
  { workspace, provider, account, heardUntil }: Claimed,
  online: OnlinePayments,
  access: AccountAccess,
): Promise<boolean> {
  const at = now();
  const listedMs = at.getTime() - LISTED_MS;
  const from = new Date(Math.max(new Date(heardUntil ?? 0).getTime(), listedMs));
  let to = at;
  for (;;) {
    let after: string | undefined;
    let pages = 0;
    do {
      const span = after === undefined ? { from, to } : { from, to, after };
      const { notices, next } = await online.listNotices(access, span);
      const kept = await keepNotices(em, { provider, account: account!, notices, at });
      if (kept > 0) log.info({ workspace, notices: kept }, "payment notices had not come");
      after = next;
    } while (after !== undefined && ++pages < MAX_PAGES);
    const spanMs = to.getTime() - from.getTime();
    if (after === undefined || spanMs <= MIN_SPAN_MS) break;
    // The oldest half: what is kept of the other is known already when its turn comes.
    to = new Date(from.getTime() + spanMs / 2);
  }
  const isAll = to === at;
  const heard = isAll ? new Date(at.getTime() - OVERLAP_MS) : to;
  await runStatement(em, HEARD, [workspace, account, heard.toISOString()]);
  return isAll;
}
