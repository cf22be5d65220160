import { isContention, isTransientDatabaseError, isUniqueViolation } from "./database-error.ts";
import { MAX_CONNECTIONS, type EntityManager } from "./orm.ts";
import { createSemaphore } from "./semaphore.ts";
import { createGroupQueue, isLate, turnAway, type Waiting } from "./group-queue.ts";

/** What came of one member of a group: its result, or why it alone was turned away. */
export type Outcome<Result> = { readonly result: Result } | { readonly refused: unknown };

/** How long a group of several waits for a lock before its members go on one by one, in milliseconds. */
const LOCK_PATIENCE_MS = 100;
/** How long a group holds up the next at most, in milliseconds. */
const LANE_PATIENCE_MS = 100;
/** How many groups are written at a time: one is made ready while the other is committed. */
const LANES = 2;
/** How many transactions are under way at most; the other connections are for reading. */
const MAX_UNDER_WAY = MAX_CONNECTIONS - 4;
/** How often a group, and then a member alone, is tried that runs into what was written meanwhile. */
const MAX_GROUP_TRIES = 2;
const MAX_TRIES_ALONE = 3;

/**
 * Writes the members that arrive while others are being written together in the next transaction,
 * so that a crowd shares the cost of round trips, of the unit of work and of the commit. A member
 * that finds nobody under way is written at once.
 *
 * One member's failure is not another's, though they share their time. A member that `work` turns
 * away is left out. When the database refuses the transaction, or lets it wait for a lock, nothing
 * of it was written, and its members are written one by one, each in a transaction of its own. When
 * the database is away or too slow all are told so, and so they are when a commit fails: whether it
 * took place cannot be known, and doing the work again could do it twice.
 *
 * @param options.maxMembers how many one transaction takes
 * @param options.apart members for which this is the same are written one after the other
 * @param options.deadlineMs when nobody will wait for a member any more, on the clock of
 * `performance.now()`; it is not written then, nor when its turn has not come within 2 seconds
 * @param options.work does the work of members, in their order, in a transaction that is flushed
 * and committed afterwards; what it turns away leaves nothing behind in the unit of work
 * @returns takes a member, and gives what came of it once that is committed
 */
export function createGroup<Member, Result>(options: {
  readonly em: EntityManager;
  readonly maxMembers: number;
  readonly apart: (member: Member) => string | undefined;
  readonly deadlineMs: (member: Member) => number;
  readonly work: (tx: EntityManager, members: readonly Member[]) => Promise<Outcome<Result>[]>;
}): (member: Member) => Promise<Result> {
  const { em, deadlineMs, work } = options;
  const waiting = createGroupQueue<Member, Result>(options.maxMembers, options.apart);
  const takeTurn = createSemaphore(MAX_UNDER_WAY);
  const takeLane = createSemaphore(LANES);
  let writing = false;

  async function writeAllWaiting(): Promise<void> {
    if (writing) return;
    writing = true;
    while (waiting.some()) {
      const leaveLane = await takeLane();
      const giveBack = await takeTurn();
      const group = waiting.takeGroup();
      const written = writeGroup(group).finally(giveBack);
      void noLongerThan(LANE_PATIENCE_MS, written).then(leaveLane);
      // All that are left wait for one that is under way, whose end is seen to below.
      if (group.length === 0) break;
    }
    writing = false;
  }

  async function writeGroup(group: readonly Waiting<Member, Result>[], tries = 1): Promise<void> {
    if (group.length === 0) return;
    if (group.length === 1) return writeAlone(group[0]!);
    try {
      settle(group, await inOneTransaction(group.map(({ member }) => member)));
    } catch (error) {
      if (error instanceof RolledBackError && error.isCollision && tries < MAX_GROUP_TRIES) {
        await writeGroup(group, tries + 1);
      } else if (error instanceof RolledBackError && error.worthGoingOn)
        group.forEach(writeAloneInTurn);
      else for (const { reject } of group) reject(causeOf(error));
    }
  }

  function writeAloneInTurn(one: Waiting<Member, Result>): void {
    void takeTurn().then((giveBack) => {
      if (!isLate(one)) return writeAlone(one).finally(giveBack);
      turnAway(one);
      return giveBack();
    });
  }

  async function writeAlone(one: Waiting<Member, Result>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return settle([one], await inOneTransaction([one.member]));
      } catch (error) {
        const again =
          error instanceof RolledBackError && error.isCollision && tries < MAX_TRIES_ALONE;
        if (!again) return one.reject(causeOf(error));
      }
    }
  }

  /** @throws RolledBackError before the commit; any other error leaves open whether it took place */
  async function inOneTransaction(members: readonly Member[]): Promise<Outcome<Result>[]> {
    const tx = em.fork();
    const outcomes = await doWork(tx, members);
    try {
      // What is flushed needs no second look for changes.
      tx.clear();
      await tx.commit();
      return outcomes;
    } catch (error) {
      await leave(tx);
      throw error;
    }
  }

  async function doWork(tx: EntityManager, members: readonly Member[]): Promise<Outcome<Result>[]> {
    try {
      await tx.begin();
      if (members.length > 1) await tx.execute(`set local lock_timeout = ${LOCK_PATIENCE_MS}`);
      const outcomes = await work(tx, members);
      await tx.flush();
      return outcomes;
    } catch (error) {
      await leave(tx);
      throw new RolledBackError(error);
    }
  }

  return async (member) => {
    try {
      const written = waiting.wait(member, deadlineMs(member));
      void writeAllWaiting();
      return await written;
    } finally {
      void writeAllWaiting();
    }
  };
}

/**
 * Ends a transaction that failed, which gives its connection back. One that is lost has nothing to
 * roll back, and says so in the error at hand.
 */
async function leave(tx: EntityManager): Promise<void> {
  await tx.rollback().catch(() => undefined);
}

/** A transaction that certainly wrote nothing. */
class RolledBackError extends Error {
  constructor(cause: unknown) {
    super("the transaction was rolled back", { cause });
  }

  /** Whether it ran into what another transaction wrote, which is committed by now and will be found. */
  get isCollision(): boolean {
    return isUniqueViolation(this.cause);
  }

  /** Not when the database is away, overloaded or silent: it would be so for each member again. */
  get worthGoingOn(): boolean {
    return !isTransientDatabaseError(this.cause) || isContention(this.cause);
  }
}

/** Waits for something to end, but not for long. */
async function noLongerThan(ms: number, end: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([end, passed]);
  clearTimeout(timer);
}

function causeOf(error: unknown): unknown {
  return error instanceof RolledBackError ? error.cause : error;
}

function settle<Member, Result>(
  group: readonly Waiting<Member, Result>[],
  outcomes: readonly Outcome<Result>[],
): void {
  group.forEach(({ resolve, reject }, i) => {
    const outcome = outcomes[i]!;
    if ("result" in outcome) resolve(outcome.result);
    else reject(outcome.refused);
  });
}
