import pg, { type Pool, type PoolClient } from "pg";
import {
  isContention,
  isForeignKeyViolation,
  isTransientDatabaseError,
  isUniqueViolation,
} from "./database-error.ts";
import type { EntityManager } from "./orm.ts";

/**
 * A transaction that is a pipeline: statements are sent without waiting for the answers to those before
 * them. If one of them fails, so does the commit, whether its answer was waited for or not.
 */
export interface Transaction {
  /** Sends a statement with `$1`, `$2`, ... for its values, and gives its rows. */
  send<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  /** Has the commit wait for what nobody else waits for, and fail with it. */
  settleAtCommit(sent: Promise<unknown>): void;
}

/** A transaction that failed before its commit, and so certainly wrote nothing. */
export class RolledBackError extends Error {
  constructor(cause: unknown) {
    super("the transaction was rolled back", { cause });
  }

  /**
   * Whether another transaction wrote the same key, or deleted what is referred to; it is committed by
   * now and will be seen.
   */
  get isCollision(): boolean {
    return isUniqueViolation(this.cause) || isForeignKeyViolation(this.cause);
  }

  /** Whether parts of it may succeed: not when the database is away, overloaded or silent. */
  get mayRetryParts(): boolean {
    return !isTransientDatabaseError(this.cause) || isContention(this.cause);
  }
}

/**
 * Does work in a transaction of a pipeline, on a connection of its own. The commit is sent right behind
 * what the work has sent, so that work which waits for one answer takes two round trips: `begin`
 * counts as answered at once. After a statement that failed PostgreSQL makes a rollback of the commit.
 *
 * @throws RolledBackError when it failed before the commit; any other error leaves open whether the
 * commit took place
 */
export async function inPipeline<T>(
  em: EntityManager,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const client = await connect(em);
  const sent: Promise<unknown>[] = [];
  const settleAtCommit = (promise: Promise<unknown>) => {
    sent.push(promise);
    promise.catch(() => undefined);
  };
  const transaction: Transaction = {
    settleAtCommit,
    send(sql, values) {
      em.config.getLogger().logQuery({ level: "info", query: sql, params: values });
      const rows = client.query(sql, [...values]).then((result) => result.rows);
      settleAtCommit(rows);
      return rows;
    },
  };
  try {
    const result = await workUntilCommit(client, transaction, work);
    const committing = client.query("commit");
    const outcomes = await Promise.allSettled([...sent, committing]);
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed === undefined) return result;
    throw isRolledBack(failed, outcomes.at(-1)!)
      ? new RolledBackError(failed.reason)
      : failed.reason;
  } finally {
    client.release();
  }
}

async function connect(em: EntityManager): Promise<PoolClient> {
  try {
    const pool = (await em.getConnection().getNativeClient()) as Pool;
    return await pool.connect();
  } catch (error) {
    throw new RolledBackError(error);
  }
}

async function workUntilCommit<T>(
  client: PoolClient,
  transaction: Transaction,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  try {
    void client.query("begin");
    return await work(transaction);
  } catch (error) {
    // On a connection that is lost this fails, and the error at hand says why.
    await client.query("rollback").catch(() => undefined);
    throw new RolledBackError(error);
  }
}

/** Whether the database has refused a statement, and so has answered the commit by a rollback. */
function isRolledBack(
  failed: PromiseRejectedResult,
  commit: PromiseSettledResult<unknown>,
): boolean {
  return failed !== commit && failed.reason instanceof pg.DatabaseError;
}
