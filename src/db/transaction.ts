import type { Transaction as TransactionContext } from "@mikro-orm/core";
import pg from "pg";
import { isCollision, isContention, isTransientDatabaseError } from "./database-error.ts";
import type { DatabaseClient } from "./client.ts";
import { isDistributed } from "./distributed.ts";
import { connectToNode, type Place } from "./nodes.ts";
import type { EntityManager } from "./orm.ts";
import { release, type Statement, takeIds } from "./statement.ts";

/**
 * A transaction that is a pipeline: statements are sent without waiting for the answers to those before
 * them. If one of them fails, so does the commit, whether its answer was waited for or not.
 */
export interface Transaction {
  /** Whether the database is distributed: it then takes look-ups in one table each in less time. */
  readonly isDistributed: boolean;
  /** Takes numbers from a sequence, for good; of a distributed database the coordinator's, which goes up for all of it. */
  takeIds(sequence: string, count: number): Promise<number[]>;
  /** Sends a statement with `$1`, `$2`, ... for its values, and gives its rows. */
  send<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  /** Sends a statement right before the commit, such as one that others wait for from then on. */
  sendLast(sql: string, values: readonly unknown[]): void;
}

/** A transaction that failed before its commit, and so certainly wrote nothing. */
export class RolledBackError extends Error {
  constructor(cause: unknown) {
    super("the transaction was rolled back", { cause });
  }

  /** Whether it collided with another transaction, which is committed by now and will be seen. */
  get isCollision(): boolean {
    return isCollision(this.cause);
  }

  /** Whether parts of it may succeed: not when the database is away, overloaded or silent. */
  get mayRetryParts(): boolean {
    return !isTransientDatabaseError(this.cause) || isContention(this.cause);
  }
}

/** Why a transaction failed, as callers are told: a refusal of its work, or the database's error. */
export function causeOf(error: unknown): unknown {
  return error instanceof RolledBackError ? error.cause : error;
}

/**
 * Does work in a transaction of a pipeline, on a connection of its own. What is sent in one tick travels
 * together, `begin` with the first of it and the commit with the last, so that work which waits for one
 * answer takes two round trips.
 *
 * @param place where all data is that the work is about, if that is known
 * @throws RolledBackError when it failed before the commit; any other error leaves open whether the
 * commit took place
 */
export async function inPipeline<T>(
  em: EntityManager,
  work: (tx: Transaction) => Promise<T>,
  place?: Place,
): Promise<T> {
  const distributed = await isDistributed(em).catch(throwRolledBack);
  const client = await connectToNode(em, place).catch(throwRolledBack);
  const send = createSender(em, client);
  const sent: Promise<unknown>[] = [];
  const last: Statement[] = [];
  const settleAtCommit = (promise: Promise<unknown>) => {
    sent.push(promise);
    promise.catch(() => undefined);
  };
  let committing: Promise<unknown> | undefined;
  try {
    settleAtCommit(send("begin"));
    const result = await work({
      isDistributed: distributed,
      takeIds: (sequence, count) =>
        takeIds(typeof place === "object" ? em : { send }, sequence, count),
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
    // On a connection that is lost this fails, and the error at hand says why.
    await client.query("rollback").catch(() => undefined);
    if (committing !== undefined) throw error;
    // PostgreSQL refuses each statement behind the first that failed, which alone says why.
    const first = outcomes.find((outcome) => outcome.status === "rejected");
    const isOfDatabase = error instanceof pg.DatabaseError;
    return throwRolledBack(isOfDatabase && first !== undefined ? first.reason : error);
  } finally {
    release(client);
  }
}

/** Does work that reads, on a connection of its own and in no transaction; statements of one tick are sent together. */
export async function inBatches<T>(
  em: EntityManager,
  work: (send: Transaction["send"]) => Promise<T>,
  place?: Place,
): Promise<T> {
  const client = await connectToNode(em, place);
  try {
    return await work(createSender(em, client));
  } finally {
    release(client);
  }
}

/** Does work that reads in a `read only` transaction, at whose end MikroORM flushes nothing. */
export function readOnly<T>(
  em: EntityManager,
  work: (tx: EntityManager) => Promise<T>,
): Promise<T> {
  const tx = em.fork();
  const run = (context: TransactionContext) => {
    tx.setTransactionContext(context);
    return work(tx);
  };
  return tx.getConnection().transactional(run, { readOnly: true });
}

function throwRolledBack(error: unknown): never {
  throw new RolledBackError(error);
}

/** PostgreSQL commits nothing behind a statement that it has refused. */
function throwAsRefused(error: unknown): never {
  throw error instanceof pg.DatabaseError ? new RolledBackError(error) : error;
}

/** Builds what sends statements on a connection, those of one tick together. */
function createSender(em: EntityManager, client: DatabaseClient) {
  return <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
    em.config.getLogger().logQuery({ level: "info", query: sql, params: values });
    return client.send<Row>(sql, values);
  };
}
