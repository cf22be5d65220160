import type { Pool } from "pg";
import { allowSlow, SLOW_TIMEOUT_MS } from "./client.ts";
import type { EntityManager } from "./orm.ts";
import { toStatement } from "./parameterized-driver.ts";

/**
 * Runs SQL written by hand: in the transaction of `em`, if there is one, else on any connection, and
 * then without a fork. PostgreSQL plans each text once for a connection, so the text must not vary with
 * the values: pass lists as JSON.
 *
 * @param sql with `$1`, `$2`, ... for the values
 */
export async function runStatement<Row>(
  em: EntityManager,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  em.config.getLogger().logQuery({ level: "info", query: sql, params: values });
  if (em.isInTransaction()) {
    return (await em.getKysely().executeQuery<Row>(toStatement(sql, values))).rows;
  }
  // Not by Kysely, whose way to a connection costs a get and a list several per cent more.
  const pool = (await em.getConnection().getNativeClient()) as Pool;
  return (await pool.query<Row & object>({ text: sql, values: [...values] })).rows;
}

/**
 * As `runStatement`, for one that moves many megabytes within the database, in a transaction: it, and
 * the rest of the transaction, may take `SLOW_TIMEOUT_MS` instead of the usual 5 seconds.
 *
 * @param sql a constant, with at least one value
 */
export async function runSlowStatement<Row>(
  tx: EntityManager,
  sql: string,
  values: readonly unknown[],
): Promise<Row[]> {
  allowSlow(sql);
  await runStatement(tx, `set local statement_timeout = ${SLOW_TIMEOUT_MS}`);
  return runStatement<Row>(tx, sql, values);
}

/** How many rows one statement deletes, so that no transaction grows long. */
const BATCH = 1_000;

/**
 * Deletes rows in batches. Replicas that delete the same at the same time share the work where the
 * statement skips rows that are locked.
 *
 * @param sql returns a row for each that it deletes; its last parameter is how many those are at most
 * @returns how many it deleted
 */
export async function deleteInBatches(
  em: EntityManager,
  sql: string,
  values: readonly unknown[] = [],
): Promise<number> {
  let count = 0;
  for (;;) {
    const { length } = await runStatement(em, sql, [...values, BATCH]);
    count += length;
    if (length < BATCH) return count;
  }
}
