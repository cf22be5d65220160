import { isContention, isTransientDatabaseError, isUniqueViolation } from "./database-error.ts";
import type { EntityManager } from "./orm.ts";
import { runStatement } from "./statement.ts";

/** What came of one member of a group: its result, or why it alone was refused. */
export type Outcome<Result> = { readonly result: Result } | { readonly refused: unknown };

/**
 * Does the work of members, in their order, in a transaction that is flushed and committed
 * afterwards. A member that it refuses must leave nothing behind in the unit of work.
 */
export type GroupWork<Member, Result> = (
  tx: EntityManager,
  members: readonly Member[],
) => Promise<Outcome<Result>[]>;

/**
 * How long a group of several waits for a lock, in milliseconds. It is then rolled back and its
 * members are written one by one, so that only the member that needs the lock waits for it.
 */
const GROUP_LOCK_TIMEOUT_MS = 100;
const SET_LOCK_TIMEOUT = `set local lock_timeout = ${GROUP_LOCK_TIMEOUT_MS}`;

/** A transaction that failed before its commit, and so certainly wrote nothing. */
export class RolledBackError extends Error {
  constructor(cause: unknown) {
    super("the transaction was rolled back", { cause });
  }

  /** Whether another transaction wrote the same key; it is committed by now and will be found. */
  get isCollision(): boolean {
    return isUniqueViolation(this.cause);
  }

  /** Whether single members may succeed: not when the database is away, overloaded or silent. */
  get mayRetryMembers(): boolean {
    return !isTransientDatabaseError(this.cause) || isContention(this.cause);
  }
}

/**
 * Writes members in one transaction.
 *
 * @throws RolledBackError when it failed before the commit; any other error leaves open whether the
 * commit took place
 */
export async function writeTogether<Member, Result>(
  em: EntityManager,
  members: readonly Member[],
  work: GroupWork<Member, Result>,
): Promise<Outcome<Result>[]> {
  const tx = em.fork();
  const outcomes = await workAndFlush(tx, members, work);
  try {
    // Everything is flushed: the commit need not look for changes again.
    tx.clear();
    await tx.commit();
    return outcomes;
  } catch (error) {
    await rollBack(tx);
    throw error;
  }
}

async function workAndFlush<Member, Result>(
  tx: EntityManager,
  members: readonly Member[],
  work: GroupWork<Member, Result>,
): Promise<Outcome<Result>[]> {
  try {
    await tx.begin();
    if (members.length > 1) await runStatement(tx, SET_LOCK_TIMEOUT);
    const outcomes = await work(tx, members);
    await tx.flush();
    return outcomes;
  } catch (error) {
    await rollBack(tx);
    throw new RolledBackError(error);
  }
}

/** Gives the connection back. On one that is lost this fails, and the error at hand says why. */
async function rollBack(tx: EntityManager): Promise<void> {
  await tx.rollback().catch(() => undefined);
}
