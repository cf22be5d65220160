import type { Transaction as TransactionContext } from "@mikro-orm/core";
import pg from "pg";
import { isCollision, isContention, isTransientDatabaseError } from "./database-error.ts";
import type { EntityManager } from "./orm.ts";
import type { Connection, DataLocation } from "./servers.ts";
import { serversOf } from "./servers-of.ts";
import { release, runStatement, type Statement, allocateIds } from "./statement.ts";

/**
 * A pipelined transaction: statements are sent without waiting for earlier responses. If a statement
 * fails, so does the commit, even if the statement was not awaited.
 */
export interface Transaction {
  /**
   * Allocates numbers from a sequence. A distributed database uses the coordinator's sequence, which all nodes share.
   */
  allocateIds(sequence: string, count: number): Promise<number[]>;
  /** Sends a statement with `$1`, `$2`, ... for its values, the workspace first. Returns the rows. */
  send<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  /** Sends a statement immediately before the commit, for example one that takes a contended lock. */
  sendLast(sql: string, values: readonly unknown[]): void;
}

/** Thrown if a transaction failed before its commit. Nothing was written. */
export class RolledBackError extends Error {
  constructor(cause: unknown) {
    super("the transaction was rolled back", { cause });
  }

  /** Whether the transaction collided with another one that has committed since. A retry sees its rows. */
  get isCollision(): boolean {
    return isCollision(this.cause);
  }

  /**
   * Whether parts of the transaction may succeed alone. False if the database is unreachable,
   * overloaded or unresponsive.
   */
  get mayRetryParts(): boolean {
    return !isTransientDatabaseError(this.cause) || isContention(this.cause);
  }
}

/** Returns the cause of a failed transaction for callers: a refusal by its work, or the database's error. */
export function causeOf(error: unknown): unknown {
  return error instanceof RolledBackError ? error.cause : error;
}

interface PipelineOptions extends DataLocation {
  /** Lock timeout in milliseconds. Defaults to the connection's lock timeout. */
  readonly lockTimeoutMs?: number | undefined;
}

/**
 * Runs `work` in a pipelined transaction on a separate connection. Statements sent in the same tick share a round trip:
 * `begin` is sent with the first statement, and `commit` with the last. For example, if `work` awaits one result before
 * its last statement, the transaction takes two round trips. `work` is called again if its data has moved to another
 * node.
 *
 * @throws RolledBackError if the transaction failed before the commit. After any other error the
 *   outcome of the commit is unknown.
 */
export async function inPipeline<T>(
  em: EntityManager,
  work: (tx: Transaction) => Promise<T>,
  options: PipelineOptions = {},
): Promise<T> {
  const connection = await connectTo(em, options).catch(throwRolledBack);
  try {
    return await commitOn(em, connection, work, options);
  } catch (error) {
    if (!(error instanceof RolledBackError && connection.hasMoved(error.cause))) throw error;
  }
  return inPipeline(em, work, options);
}

async function commitOn<T>(
  em: EntityManager,
  connection: Connection,
  work: (tx: Transaction) => Promise<T>,
  { lockTimeoutMs }: PipelineOptions,
): Promise<T> {
  const { client, hasSequences } = connection;
  const send = createSender(em, connection);
  const assertion = connection.assertion(true);
  const sent: Promise<unknown>[] = [];
  const last: Statement[] = [];
  const settleAtCommit = (promise: Promise<unknown>) => {
    sent.push(promise);
    promise.catch(() => undefined);
  };
  let committing: Promise<unknown> | undefined;
  try {
    settleAtCommit(send("begin"));
    if (lockTimeoutMs !== undefined) settleAtCommit(send(`set local lock_timeout = ${lockTimeoutMs}`));
    if (assertion !== undefined) settleAtCommit(send(...assertion));
    const result = await work({
      allocateIds: (sequence, count) => allocateIds(hasSequences ? { send } : em, sequence, count),
      sendLast: (sql, values) => void last.push([sql, values]),
      send<Row>(sql: string, values: readonly unknown[]) {
        const rows = send<Row>(sql, values);
        settleAtCommit(rows);
        return rows;
      },
    });
    for (const [sql, values] of last) settleAtCommit(send(sql, values));
    committing = send("commit");
    committing.catch(() => undefined);
    await Promise.all(sent).catch(throwAsRefused);
    await committing;
    return result;
  } catch (error) {
    const outcomes = await Promise.allSettled([...sent, committing]);
    // The rollback fails if the connection is lost. The original error is reported.
    await client.query("rollback").catch(() => undefined);
    if (committing !== undefined) throw error;
    // After a failed statement, PostgreSQL rejects all later ones. The first failure has the cause.
    const first = outcomes.find((outcome) => outcome.status === "rejected");
    const isOfDatabase = error instanceof pg.DatabaseError;
    return throwRolledBack(isOfDatabase && first !== undefined ? first.reason : error);
  } finally {
    release(client);
  }
}

/**
 * Runs reads on a separate connection, without a transaction. Statements of one tick are sent together.
 *
 * @param work must send all statements in one tick if workspaces are given
 */
export async function inBatches<T>(
  em: EntityManager,
  work: (send: Transaction["send"]) => Promise<T>,
  location: DataLocation = {},
): Promise<T> {
  const connection = await connectTo(em, location);
  const assertion = connection.assertion(false);
  try {
    const send = createSender(em, connection);
    const reading = work(send);
    // The assertion follows the reads. If it succeeds, the data was still on the node during the reads.
    const [result] = await Promise.all([reading, assertion && send(...assertion)]);
    return result;
  } catch (error) {
    if (!connection.hasMoved(error)) throw error;
  } finally {
    release(connection.client);
  }
  return inBatches(em, work, location);
}

async function connectTo(em: EntityManager, location: DataLocation): Promise<Connection> {
  return (await serversOf(em)).connect(location);
}

/** Runs reads in a `read only` transaction, so that MikroORM does not flush at the end. */
export function readOnly<T>(em: EntityManager, work: (tx: EntityManager) => Promise<T>): Promise<T> {
  const tx = em.fork();
  const run = (context: TransactionContext) => {
    tx.setTransactionContext(context);
    return work(tx);
  };
  return tx.getConnection().transactional(run, { readOnly: true });
}

/**
 * Reads a list in the order of an index. Disables sorts, because PostgreSQL without statistics expects few rows and
 * would read and sort them all.
 */
export function readInOrder<T>(em: EntityManager, work: (tx: EntityManager) => Promise<T>): Promise<T> {
  return readOnly(em, async (tx) => {
    await runStatement(tx, "set local enable_sort = off");
    return work(tx);
  });
}

function throwRolledBack(error: unknown): never {
  throw new RolledBackError(error);
}

/** Converts a database error to RolledBackError, because PostgreSQL commits nothing after a rejected statement. */
function throwAsRefused(error: unknown): never {
  throw error instanceof pg.DatabaseError ? new RolledBackError(error) : error;
}

/** Creates a function that logs and sends a statement. */
function createSender(em: EntityManager, connection: Connection) {
  return <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
    em.config.getLogger().logQuery({ level: "info", query: sql, params: values });
    return connection.send<Row>(sql, values);
  };
}
