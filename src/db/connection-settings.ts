import type { ClientBase } from "pg";

/**
 * What statements and the reading of their results rely on. A role, a database or a server may set anything else
 * (`alter role ... set`).
 */
const SESSION = {
  DateStyle: "ISO, YMD",
  IntervalStyle: "postgres",
  TimeZone: "UTC",
  extra_float_digits: "1",
  bytea_output: "hex",
  standard_conforming_strings: "on",
  array_nulls: "on",
  transform_null_equals: "off",
  quote_all_identifiers: "off",
  default_transaction_isolation: "read committed",
  gin_fuzzy_search_limit: "0",
  idle_session_timeout: "0",
};

/**
 * Serving connections look rows up by index. Until PostgreSQL has analyzed a table, and wherever it did so when the table
 * was nearly empty, reading all of it looks as cheap as an index, also in foreign keys and triggers; and a connection
 * keeps the plan that it made then. A bitmap scan loses the order of its index, so only searches of words, whose indexes
 * have no other scan, turn it on (`searchWords`).
 */
const PLANNER = {
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  enable_indexscan: "on",
  enable_indexonlyscan: "on",
  enable_nestloop: "on",
};

type Connected = Pick<ClientBase, "query">;

/** Sets what every connection of the service relies on. */
export async function setSession(client: Connected): Promise<void> {
  await set(client, SESSION);
}

/** Sets the planner settings of connections that serve calls. */
export async function setPlannerSettings(client: Connected): Promise<void> {
  await set(client, PLANNER);
}

/** Sets the timeouts of a connection that migrates: none, except for locks. */
export async function setMigrationTimeouts(
  client: Connected,
  lockTimeoutMs: number,
): Promise<void> {
  await set(client, {
    statement_timeout: "0",
    idle_in_transaction_session_timeout: "0",
    lock_timeout: String(lockTimeoutMs),
  });
}

/** By a statement: PgBouncer refuses or ignores settings that it does not know at the start of a connection. */
async function set(client: Connected, settings: Readonly<Record<string, string>>): Promise<void> {
  const list = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}', '${value}', false)`,
  );
  await client.query(`select ${list.join(", ")}`);
}
