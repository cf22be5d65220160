import type { ClientBase } from "pg";

/**
 * Settings that statements and the parsing of results rely on. Roles, databases and servers can have
 * other defaults (`alter role ... set`).
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
 * Makes plans independent of the server. On a table without statistics, with the default cost of 4 for a random page, a
 * sequential scan seems as cheap as an index scan. `readInOrder` and `searchWords` override some settings for single
 * reads.
 */
const PLANNER = {
  random_page_cost: "1.1",
  jit: "off",
  enable_bitmapscan: "on",
  enable_indexscan: "on",
  enable_indexonlyscan: "on",
  enable_nestloop: "on",
};

type Connected = Pick<ClientBase, "query">;

/** Applies `SESSION` and the planner settings for connections that serve calls. */
export async function setServingSettings(client: Connected): Promise<void> {
  await set(client, { ...SESSION, ...PLANNER });
}

/** Applies `SESSION`, and disables all timeouts of a migration's connection except the lock timeout. */
export async function setMigrationSettings(client: Connected, lockTimeoutMs: number): Promise<void> {
  await set(client, {
    ...SESSION,
    statement_timeout: "0",
    idle_in_transaction_session_timeout: "0",
    lock_timeout: String(lockTimeoutMs),
  });
}

/** Uses a statement, because PgBouncer rejects or ignores unknown settings in the startup message. */
async function set(client: Connected, settings: Readonly<Record<string, string>>): Promise<void> {
  const list = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  await client.query(`select ${list.join(", ")}`);
}
