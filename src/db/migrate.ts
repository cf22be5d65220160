import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientConfig } from "pg";
import { isDistributed } from "./citus/distributed.ts";
import { assertVersion, connectionError, ConnectionError } from "./connection-error.ts";
import { setMigrationSettings } from "./connection-settings.ts";
import { isForbidden, isTransientDatabaseError } from "./database-error.ts";
import { BASELINE, MIGRATIONS } from "./migration-list.ts";
import { createClient } from "./primary-client.ts";
import { assertRights } from "./rights.ts";

/** Key of the advisory lock that migrations hold. */
export const MIGRATION_LOCK = 0x5348_5001;
/** Maximum time to wait for another replica's migrations, in milliseconds. */
const LOCK_WAIT_MS = 120_000;

/**
 * Applies pending migrations, one process at a time: replicas that start together wait for each other.
 * If a migration fails, earlier ones remain applied.
 *
 * @returns the names of the migrations applied by this call, in order
 * @throws ConnectionError if the database is unreachable, too old, or denies access
 */
export async function migrate(databaseUrl: string, onApplied?: (name: string) => void): Promise<string[]> {
  const config = { lockWaitMs: LOCK_WAIT_MS, query_timeout: LOCK_WAIT_MS };
  return withMigrationLock(databaseUrl, config, async (client) => {
    await assertRights(client);
    const applied = await loadApplied(client);
    if (Object.keys(MIGRATIONS).every((name) => applied.has(name))) return [];
    const migrations = migrationsFor(applied);
    const { applyMigrations } = await import("./migrator.ts");
    const distributed = await isDistributed(async (sql, values) => (await client.query(sql, [...values])).rows);
    return applyMigrations(databaseUrl, { migrations, distributed, onApplied });
  });
}

/**
 * Runs work on a connection that holds the migration lock.
 *
 * @throws ConnectionError if the database is unreachable, too old, or denies access, and any error of the work
 */
export async function withMigrationLock<T>(
  databaseUrl: string,
  { lockWaitMs, ...config }: ClientConfig & { readonly lockWaitMs: number },
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = createClient(databaseUrl, { connectionTimeoutMillis: 5_000, ...config });
  // Without a listener a broken connection would terminate the process. The query reports the error.
  client.on("error", () => undefined);
  await client.connect().catch((error: unknown) => {
    throw connectionError(error, databaseUrl);
  });
  try {
    const { rows } = await client.query("show server_version_num");
    assertVersion(Number(rows[0].server_version_num), databaseUrl);
    await setMigrationSettings(client, lockWaitMs);
    await client.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
    return await work(client);
  } catch (error) {
    throw isForbidden(error) ? connectionError(error, databaseUrl) : error;
  } finally {
    await client.end();
  }
}

/** Returns the names of applied migrations, which may include migrations of a later release. */
async function loadApplied(client: Client): Promise<ReadonlySet<string>> {
  const { rows: tables } = await client.query("select to_regclass('applied_migration') as found");
  if (tables[0].found === null) return new Set();
  const { rows } = await client.query<{ name: string }>("select name from applied_migration");
  return new Set(rows.map(({ name }) => name));
}

/**
 * Migrations that the baseline replaced: their number, the name of the last one, and a commit that still contains them.
 */
export const REPLACED = {
  count: 54,
  last: "20261123205500-partly-disputed",
  commit: "d8c9b014bfbe43699f9463af9b5b6f67c6fa76e3",
};

/**
 * Returns the migrations for a database. A database with all replaced migrations adopts the baseline.
 *
 * @throws ConnectionError if a replaced migration is missing, or if a later release replaced the baseline
 */
function migrationsFor(applied: ReadonlySet<string>): typeof MIGRATIONS {
  if (applied.size === 0 || applied.has(BASELINE)) return MIGRATIONS;
  const newest = Object.keys(MIGRATIONS).at(-1)!;
  const later = [...applied].toSorted().find((name) => name > newest);
  if (later !== undefined) {
    const reason = `its schema is newer than this version: a later release applied ${later}`;
    throw new ConnectionError(`${reason}; start that release, or restore a backup`, false);
  }
  if (applied.size !== REPLACED.count || !applied.has(REPLACED.last)) {
    const reason = "its schema is older than this version can migrate";
    throw new ConnectionError(`${reason}; start commit ${REPLACED.commit} on it first`, false);
  }
  return { ...MIGRATIONS, [BASELINE]: () => import("./adopt-baseline.ts") };
}

/** Interval between retries while the database is unreachable, in milliseconds. */
const RETRY_MS = 500;
/** Interval between reports of the same reason while the database is unreachable, in milliseconds. */
const REPEAT_MS = 10_000;

export interface WaitOptions {
  /**
   * Called with the reason why the database cannot be migrated yet: the first time, when the reason
   * changes, and every 10 s.
   */
  readonly onWaiting: (reason: string) => void;
  /** Time after which no retry starts, in milliseconds. 0 means a single attempt. Default: no limit. */
  readonly withinMs?: number;
  readonly signal?: AbortSignal;
}

/** Applies pending migrations, and retries while the database is unreachable or a table is locked. */
export async function migrateWhenReachable(
  databaseUrl: string,
  { onWaiting, withinMs = Infinity, signal }: WaitOptions,
): Promise<string[]> {
  const deadlineMs = performance.now() + withinMs;
  const applied: string[] = [];
  let reported = { reason: "", atMs: 0 };
  for (;;) {
    signal?.throwIfAborted();
    try {
      await migrate(databaseUrl, (name) => void applied.push(name));
      return applied;
    } catch (error) {
      const atMs = performance.now();
      if (!(error instanceof Error) || !mayPass(error) || atMs >= deadlineMs) throw error;
      const reason = error instanceof ConnectionError ? error.reason : error.message;
      if (reason !== reported.reason || atMs - reported.atMs > REPEAT_MS) {
        onWaiting(reason);
        reported = { reason, atMs };
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

function mayPass(error: Error): boolean {
  return error instanceof ConnectionError ? error.mayPass : isTransientDatabaseError(error);
}
