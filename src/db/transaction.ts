import type { Transaction as TransactionContext } from "@mikro-orm/core";
import pg from "pg";
import { isCollision, isContention, isTransientDatabaseError } from "./database-error.ts";
import { isDistributed } from "./distributed.ts";
import { type Connection, connectToNode, type Whereabouts } from "./nodes.ts";
import type { EntityManager } from "./orm.ts";
import { ASSERT_SHARDS, isOfNames, onShard, type ShardStatement } from "./shard-statements.ts";
import { release, type Statement, takeIds } from "./statement.ts";

/**
 * A transaction that is a pipeline: statements are sent without waiting for the answers to those before
 * them. If one of them fails, so does the commit, whether its answer was waited for or not.
 */
export interface Transaction {
  /** It takes look-ups in one table each in less time. */
  readonly isPlannedByCitus: boolean;
  /** Takes numbers from a sequence, for good; of a distributed database the coordinator's, which goes up for all of it. */
  takeIds(sequence: string, count: number): Promise<number[]>;
  /** Sends a statement with `$1`, `$2`, ... for its values, the workspace first, and gives its rows. */
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

interface PipelineOptions extends Whereabouts {
  /** How long a lock is waited for, in milliseconds; as long as on other connections without. */
  readonly lockTimeoutMs?: number | undefined;
}

/**
 * Does work in a transaction of a pipeline, on a connection of its own. What is sent in one tick travels
 * together, `begin` with the first of it and the commit with the last, so that work which waits for one
 * answer takes two round trips. Work is done again where its data has moved to another node meanwhile.
 *
 * @throws RolledBackError when it failed before the commit; any other error leaves open whether the
 * commit took place
 */
export async function inPipeline<T>(
  em: EntityManager,
  work: (tx: Transaction) => Promise<T>,
  options: PipelineOptions = {},
): Promise<T> {
  const distributed = await isDistributed(em).catch(throwRolledBack);
  const connection = await connectToNode(em, options).catch(throwRolledBack);
  try {
    return await commitOn(em, connection, work, { ...options, distributed });
  } catch (error) {
    if (!(error instanceof RolledBackError && leaveToCitus(connection, error.cause))) throw error;
  }
  return inPipeline(em, work, options);
}

async function commitOn<T>(
  em: EntityManager,
  connection: Connection,
  work: (tx: Transaction) => Promise<T>,
  {
    place,
    workspaces = [],
    lockTimeoutMs,
    distributed,
  }: PipelineOptions & { distributed: boolean },
): Promise<T> {
  const { client, shards } = connection;
  const areAllNamed = shards.size > 0 && workspaces.every((it) => shards.has(it));
  const send = createSender(em, connection);
  const sent: Promise<unknown>[] = [];
  const last: Statement[] = [];
  const settleAtCommit = (promise: Promise<unknown>) => {
    sent.push(promise);
    promise.catch(() => undefined);
  };
  let committing: Promise<unknown> | undefined;
  try {
    settleAtCommit(send("begin"));
    if (lockTimeoutMs !== undefined)
      settleAtCommit(send(`set local lock_timeout = ${lockTimeoutMs}`));
    if (shards.size > 0) settleAtCommit(send(ASSERT_SHARDS, [idsOf(shards), true]));
    const result = await work({
      isPlannedByCitus: distributed && !areAllNamed,
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

/**
 * Does work that reads, on a connection of its own and in no transaction; statements of one tick are sent together.
 *
 * @param work sends all of its statements at once, where its workspaces are given
 */
export async function inBatches<T>(
  em: EntityManager,
  work: (send: Transaction["send"]) => Promise<T>,
  whereabouts: Whereabouts = {},
): Promise<T> {
  const connection = await connectToNode(em, whereabouts);
  try {
    const send = createSender(em, connection);
    const reading = work(send);
    // After what it reads: until then, it was there.
    const asserting =
      connection.shards.size > 0 && send(ASSERT_SHARDS, [idsOf(connection.shards), false]);
    const [result] = await Promise.all([reading, asserting]);
    return result;
  } catch (error) {
    if (!leaveToCitus(connection, error)) throw error;
  } finally {
    release(connection.client);
  }
  return inBatches(em, work, whereabouts);
}

/** In one order, so that transactions that hold several do not wait for each other in a circle. */
function idsOf(shards: Connection["shards"]): number[] {
  return [...new Set(shards.values())].map(({ id }) => id).toSorted((a, b) => a - b);
}

/** Where work failed of the names of shards, leaves their data to Citus for the next seconds; false for another error. */
function leaveToCitus({ shards }: Connection, error: unknown): boolean {
  if (shards.size === 0 || !isOfNames(error)) return false;
  for (const shard of shards.values()) shard.isNamed = false;
  return true;
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
function createSender(em: EntityManager, { client, shards }: Connection) {
  const [anyShard] = shards.values();
  const statementOf = (sql: string, workspace: unknown): ShardStatement | undefined => {
    const own = shards.get(workspace as number);
    const shard = own ?? anyShard;
    const found = shard && onShard(shard.statements, sql, shard.name);
    return found?.ofWorkspaces && own === undefined ? undefined : found;
  };
  return <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
    em.config.getLogger().logQuery({ level: "info", query: sql, params: values });
    const { text, name } = statementOf(sql, values[0]) ?? { text: sql };
    return client.send<Row>(text, values, name);
  };
}
