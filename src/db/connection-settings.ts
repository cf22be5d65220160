import type { ClientBase } from "pg";

/** Off on every connection that serves calls. */
const OFF = ["enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit"];

const SET = `select ${OFF.map((name) => `set_config('${name}', 'off', false)`).join(", ")}`;

/**
 * Has a connection look rows up by index, one after the other and in the order of the index, whatever
 * PostgreSQL knows of its tables. Until it has analyzed them, and wherever it did so when they were nearly
 * empty, reading all of a table looks as cheap as an index, also in foreign keys and triggers; and a
 * connection keeps the plan that it made then. By a statement, since PgBouncer refuses settings that it
 * does not know at the start of a connection.
 */
export async function setPlannerSettings(client: Pick<ClientBase, "query">): Promise<void> {
  await client.query(SET);
}

/**
 * Sets the timeouts of a connection that migrates: none, but that for locks. By a statement, since a role's own settings
 * (`alter role ... set statement_timeout`) hold where a connection begins without any, and PgBouncer can be told to pass
 * over those that a connection begins with.
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
