import type { Pool, PoolClient } from "pg";
import { allowSlow, SLOW_TIMEOUT_MS, type DatabaseClient } from "./client.ts";
import type { EntityManager } from "./orm.ts";
import { toStatement } from "./parameterized-driver.ts";

export type { Statement } from "./statement-batch.ts";

/** Sends statements like a pipelined transaction. */
interface Sender {
  send<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
}

/** Returns the connection pool of the ORM's server, which is the coordinator on a distributed database. */
export async function poolOf(em: EntityManager): Promise<Omit<Pool, "query">> {
  return (await em.getConnection().getNativeClient()) as Pool;
}

/** Acquires a connection from the pool. The caller must release it. */
export async function connect(em: EntityManager): Promise<DatabaseClient & PoolClient> {
  return (await (await poolOf(em)).connect()) as DatabaseClient & PoolClient;
}

/** Releases a connection. Passes a destroyed connection as broken, because the pool may not have noticed yet. */
export function release(client: PoolClient): void {
  client.release(client.connection.stream.destroyed);
}

/**
 * Runs handwritten SQL in the transaction of `em`, or on any pool connection if `em` has none. PostgreSQL
 * plans each text once per connection, so the text must not vary with the values: pass lists as JSON.
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
  // Bypasses Kysely, whose connection handling slows a get or list call by several percent.
  const client = await connect(em);
  try {
    return (await client.query<Row & object>(sql, [...values])).rows;
  } finally {
    release(client);
  }
}

/** Allocates numbers from a sequence. */
export async function allocateIds(em: EntityManager | Sender, sequence: string, count: number): Promise<number[]> {
  if (count === 0) return [];
  const sql = "select nextval($1)::float8 as id from generate_series(1, $2::int)";
  const rows = await runStatement<{ id: number }>(em, sql, [sequence, count]);
  return rows.map(({ id }) => id);
}

/**
 * Runs a statement that moves many megabytes within the database, in a transaction. The statement and
 * the rest of the transaction may each take `SLOW_TIMEOUT_MS` instead of 5 seconds.
 *
 * @param sql a constant with at least one value
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

/** Maximum number of rows deleted by one statement, which keeps transactions short. */
const BATCH = 1_000;

/**
 * Deletes the oldest rows of a table across workspaces, in batches. On a distributed database concurrent
 * replicas wait for each other, because a statement cannot skip locked rows on several nodes.
 *
 * @param column an indexed time. Rows with the same time are deleted together.
 * @param before SQL for the time before which rows are deleted, with `$1` if there is a value
 * @returns the number of deleted rows
 */
export async function deleteOldest(
  em: EntityManager,
  table: string,
  column: string,
  before: string,
  values: readonly unknown[],
): Promise<number> {
  const oldest = `
    select min(${column})::text as first, max(${column})::text as last from (
      select ${column} from ${table} where ${column} < ${before} order by ${column} limit ${BATCH}
    ) as oldest`;
  let count = 0;
  for (;;) {
    const [row] = await runStatement<{ first: string | null; last: string }>(em, oldest, values);
    if (row!.first === null) return count;
    // Without statistics, PostgreSQL expects few rows in a range, but a third of the table before a time.
    const sql = `delete from ${table} where ${column} between $1 and $2 returning 1`;
    count += (await runStatement(em, sql, [row!.first, row!.last])).length;
  }
}

/**
 * Deletes rows in batches, each in a separate transaction. Concurrent replicas share the work if the
 * statement skips locked rows.
 *
 * @param sql returns one row for each deleted row. Its last parameter is the maximum number of rows to delete.
 * @returns the number of deleted rows
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
