import type { ClientBase } from "pg";

/**
 * Sets the timeouts of a connection that migrates: none, but that for locks. By a statement, since a
 * role's own settings (`alter role ... set statement_timeout`) hold where a connection begins without
 * any, and PgBouncer can be told to pass over those that a connection begins with.
 *
 * @param lockTimeoutMs how long it may wait for a lock, in milliseconds
 */
export async function setMigrationTimeouts(
  client: Pick<ClientBase, "query">,
  lockTimeoutMs: number,
): Promise<void> {
  await client.query(
    `select set_config('statement_timeout', '0', false),
            set_config('idle_in_transaction_session_timeout', '0', false),
            set_config('lock_timeout', $1, false)`,
    [String(lockTimeoutMs)],
  );
}
