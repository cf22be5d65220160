import { assertVersion, connectionFault } from "./connection-fault.ts";
import { isForbidden } from "./database-error.ts";
import { setMigrationTimeouts } from "./migration-timeouts.ts";
import { createOrm } from "./orm.ts";
import { createClient } from "./primary-client.ts";

/** Names this service's migrations among PostgreSQL's advisory locks. */
export const MIGRATION_LOCK = 0x5348_5001;
/** How long a replica waits for another one's migrations, in milliseconds. */
const LOCK_WAIT_MS = 120_000;

/**
 * Applies the migrations that a database has not had yet, one process at a time: replicas that
 * start together wait for each other.
 *
 * @returns the names of the migrations applied now, in order
 * @throws ConnectionFault when the database cannot be reached, is too old, or forbids it
 * @throws when a migration fails; what had been applied before stays
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const lock = createClient(databaseUrl, {
    connectionTimeoutMillis: 5_000,
    query_timeout: LOCK_WAIT_MS,
  });
  // Without a listener a connection that breaks would end the process; the query reports it.
  lock.on("error", () => undefined);
  await lock.connect().catch((error: unknown) => {
    throw connectionFault(error, databaseUrl);
  });
  try {
    const { rows } = await lock.query("show server_version_num");
    assertVersion(Number(rows[0].server_version_num), databaseUrl);
    await setMigrationTimeouts(lock, LOCK_WAIT_MS);
    await lock.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
    return await applyPending(databaseUrl);
  } catch (error) {
    throw isForbidden(error) ? connectionFault(error, databaseUrl) : error;
  } finally {
    await lock.end();
  }
}

async function applyPending(databaseUrl: string): Promise<string[]> {
  const orm = createOrm(databaseUrl, { entities: [], unlimited: true });
  try {
    const applied = await orm.migrator.up();
    return applied.map((migration) => migration.name);
  } finally {
    await orm.close();
  }
}
