import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** A transaction that keeps newer events from being shown. */
export interface FeedHolder {
  /** Null for a prepared transaction, which belongs to no process. */
  readonly pid: number | null;
  /** Null where the database does not let its user see those of others. */
  readonly application: string | null;
  readonly database: string | null;
  /** Whether it runs a statement, or is idle in its transaction. */
  readonly state: string | null;
  /** The name of a prepared transaction. */
  readonly prepared: string | null;
}

/** How long the oldest event that cannot be shown yet has waited, and what it waits for. */
export interface FeedDelay extends FeedHolder {
  readonly seconds: number;
}

/** The oldest transaction in flight in any database of the server, before which feeds end. */
export async function loadOldestTransaction(em: EntityManager): Promise<string> {
  const [row] = await runStatement<{ xmin: string }>(
    em,
    "select pg_snapshot_xmin(pg_current_snapshot())::text as xmin",
    [],
  );
  return row!.xmin;
}

/**
 * The event is found workspace by workspace through the index of the feed. Every transaction that
 * writes holds a lock on its own id, which everybody may see, unlike most of `pg_stat_activity`.
 */
const HELD_BACK = `
  select greatest(0, extract(epoch from now() - held.created_at))::float8 as seconds,
    holder.pid, activity.application_name as application,
    coalesce(activity.datname, prepared.database) as database, activity.state,
    prepared.gid as prepared
  from (
    select min(oldest.created_at) as created_at
    from workspace cross join lateral (
      select created_at from event
      where workspace_id = workspace.id and transaction >= $1::text::bigint
      order by transaction, subject, number limit 1
    ) as oldest
  ) as held
  left join pg_locks as holder on holder.locktype = 'transactionid'
    and holder.transactionid = $1::text::xid8::xid and holder.mode = 'ExclusiveLock'
    and holder.granted
  left join pg_stat_activity as activity on activity.pid = holder.pid
  left join pg_prepared_xacts as prepared on prepared.transaction = $1::text::xid8::xid
  where held.created_at is not null`;

/**
 * Whether events wait for a transaction to end.
 *
 * @param transaction as `loadOldestTransaction` gave it
 * @returns undefined when no event waits
 */
export async function loadFeedDelay(
  em: EntityManager,
  transaction: string,
): Promise<FeedDelay | undefined> {
  const [delay] = await runStatement<FeedDelay>(em, HELD_BACK, [transaction]);
  return delay;
}
