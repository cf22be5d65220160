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
 * Makes the planner look up rows by index. If a table is not analyzed, or was nearly empty when PostgreSQL
 * analyzed it, a sequential scan seems as cheap as an index scan, and the connection caches that plan.
 * This also applies to foreign keys and triggers. Bitmap scans are off because they lose the order of the
 * index. Only word searches enable them (`searchWords`), because a GIN index has no other scan.
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
