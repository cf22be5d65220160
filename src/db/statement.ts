import type { Pool, PoolClient } from "pg";
import { allowSlow, SLOW_TIMEOUT_MS, type DatabaseClient } from "./client.ts";
import type { EntityManager } from "./orm.ts";
import { toStatement } from "./parameterized-driver.ts";

export type { Statement } from "./statement-batch.ts";

/** Sends statements, as a transaction that is a pipeline does. */
interface Sender {
  send<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
}

/** The pool of the server that an ORM connects to; of a cluster, the coordinator's. */
export async function poolOf(em: EntityManager): Promise<Pool> {
  return (await em.getConnection().getNativeClient()) as Pool;
}

/** Takes a connection out of the pool, to be released. */
export async function connect(em: EntityManager): Promise<DatabaseClient & PoolClient> {
  return (await (await poolOf(em)).connect()) as DatabaseClient & PoolClient;
}

/** Gives a connection back. One that was just destroyed does not look so to the pool yet. */
export function release(client: PoolClient): void {
  client.release(client.connection.stream.destroyed);
}

/**
 * Runs SQL written by hand: in a transaction, which may be that of `em`, else on any connection, and
 * then without a fork. PostgreSQL plans each text once for a connection, so the text must not vary with
 * the values: pass lists as JSON.
 *
 * @param sql with `$1`, `$2`, ... for the values
 */
export async function runStatement<Row>(
  em: EntityManager | Sender,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  if ("send" in em) return em.send<Row>(sql, values);
  em.config.getLogger().logQuery({ level: "info", query: sql, params: values });
  if (em.isInTransaction()) {
    return (await em.getKysely().executeQuery<Row>(toStatement(sql, values))).rows;
  }
  // Not by Kysely, whose way to a connection costs a get and a list several per cent more.
  const pool = await poolOf(em);
  return (await pool.query<Row & object>({ text: sql, values: [...values] })).rows;
}

/** Takes numbers from a sequence, for good. */
export async function takeIds(
  em: EntityManager | Sender,
  sequence: string,
  count: number,
): Promise<number[]> {
  if (count === 0) return [];
  const sql = "select nextval($1)::float8 as id from generate_series(1, $2::int)";
  const rows = await runStatement<{ id: number }>(em, sql, [sequence, count]);
  return rows.map(({ id }) => id);
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
 * Deletes what is oldest in a table of any workspaces, in batches. In a distributed database a statement
 * cannot lock rows of several nodes to skip those that others have locked, so replicas that delete the
 * same at the same time wait for each other.
 *
 * @param column a time, with an index of its own; rows of the same time are deleted together
 * @param before SQL for the time up to which to delete; it holds `$1` if there is a value
 * @returns how many it deleted
 */
export async function deleteOldest(
  em: EntityManager,
  table: string,
  column: string,
  before: string,
  values: readonly unknown[],
): Promise<number> {
  const oldest = `
    select max(${column})::text as until from (
      select ${column} from ${table} where ${column} < ${before} order by ${column} limit ${BATCH}
    ) as oldest`;
  let count = 0;
  for (;;) {
    const [row] = await runStatement<{ until: string | null }>(em, oldest, values);
    if (row!.until === null) return count;
    const sql = `delete from ${table} where ${column} <= $1 returning 1`;
    count += (await runStatement(em, sql, [row!.until])).length;
  }
}

/**
 * Deletes rows in batches, each in a transaction of its own. Replicas that delete the same at the same time share the work where the
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
