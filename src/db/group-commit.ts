import { isContention, isPassingDatabaseError, isUniqueViolation } from "./database-error.ts";
import type { EntityManager } from "./orm.ts";
import { createTurns } from "./turns.ts";

/** What came of one member of a group: its result, or why it alone was turned away. */
export type Outcome<Result> = { readonly result: Result } | { readonly refused: unknown };

/**
 * How long a group of several waits for a lock before its members go on one by one, and how long
 * any group holds up the next, in milliseconds.
 */
const PATIENCE_MS = 100;
/** How many groups are written at a time: one is made ready while the other is committed. */
const LANES = 2;
/** How many transactions are under way at most: fewer than there are connections. */
const MAX_UNDER_WAY = 16;
/** How often a member alone may run into what another transaction wrote meanwhile. */
const MAX_TRIES_ALONE = 3;

interface Waiting<Member, Result> {
  readonly member: Member;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes the members that arrive while others are being written together in the next transaction,
 * so that a crowd shares the cost of round trips, of the unit of work and of the commit. A member
 * that finds nobody under way is written at once.
 *
 * Neighbours do not feel each other. A member that `work` turns away is left out. When the database
 * refuses the transaction, or lets it wait for a lock, nothing of it was written, and its members
 * are written one by one, each in a transaction of its own. When the connection is lost all are
 * told so: whether a commit that was under way took place cannot be known, and doing the work again
 * could do it twice.
 *
 * @param options.maxMembers how many one transaction takes
 * @param options.apart members for which this is the same are written one after the other
 * @param options.work does the work of members, in their order, in a transaction that is flushed
 * and committed afterwards; what it turns away leaves nothing behind in the unit of work
 * @returns takes a member, and gives what came of it once that is committed
 */
export function createGroup<Member, Result>(options: {
  readonly em: EntityManager;
  readonly maxMembers: number;
  readonly apart: (member: Member) => string | undefined;
  readonly work: (tx: EntityManager, members: readonly Member[]) => Promise<Outcome<Result>[]>;
}): (member: Member) => Promise<Result> {
  const { em, maxMembers, apart, work } = options;
  const takeTurn = createTurns(MAX_UNDER_WAY);
  const takeLane = createTurns(LANES);
  const keysUnderWay = new Set<string>();
  let waiting: Waiting<Member, Result>[] = [];
  let writing = false;

  async function writeAllWaiting(): Promise<void> {
    if (writing) return;
    writing = true;
    while (waiting.length > 0) {
      const leaveLane = await takeLane();
      const giveBack = await takeTurn();
      const group = takeGroup();
      const written = writeGroup(group).finally(giveBack);
      void noLongerThan(PATIENCE_MS, written).then(leaveLane);
      // All that are left wait for one that is under way, whose end is seen to below.
      if (group.length === 0) break;
    }
    writing = false;
  }

  function takeGroup(): Waiting<Member, Result>[] {
    const group: typeof waiting = [];
    const left: typeof waiting = [];
    for (const one of waiting) {
      const key = apart(one.member);
      const fits = group.length < maxMembers && (key === undefined || !keysUnderWay.has(key));
      (fits ? group : left).push(one);
      if (fits && key !== undefined) keysUnderWay.add(key);
    }
    waiting = left;
    return group;
  }

  async function writeGroup(group: readonly Waiting<Member, Result>[]): Promise<void> {
    if (group.length === 0) return;
    if (group.length === 1) return writeAlone(group[0]!);
    try {
      settle(group, await inOneTransaction(group.map(({ member }) => member)));
    } catch (error) {
      if (error instanceof Undone && error.worthGoingOn) group.forEach(writeAloneInTurn);
      else for (const { reject } of group) reject(causeOf(error));
    }
  }

  function writeAloneInTurn(one: Waiting<Member, Result>): void {
    void takeTurn().then((giveBack) => writeAlone(one).finally(giveBack));
  }

  async function writeAlone(one: Waiting<Member, Result>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return settle([one], await inOneTransaction([one.member]));
      } catch (error) {
        // What it ran into is committed by now, and will be found.
        const again = tries < MAX_TRIES_ALONE && isUniqueViolation(causeOf(error));
        if (!again) return one.reject(causeOf(error));
      }
    }
  }

  /** @throws Undone before the commit; any other error leaves open whether it took place */
  async function inOneTransaction(members: readonly Member[]): Promise<Outcome<Result>[]> {
    const tx = em.fork();
    await tx.begin();
    const outcomes = await doWork(tx, members);
    // What is flushed needs no second look for changes.
    tx.clear();
    await tx.commit();
    return outcomes;
  }

  async function doWork(tx: EntityManager, members: readonly Member[]): Promise<Outcome<Result>[]> {
    try {
      if (members.length > 1) await tx.execute(`set local lock_timeout = ${PATIENCE_MS}`);
      const outcomes = await work(tx, members);
      await tx.flush();
      return outcomes;
    } catch (error) {
      // A connection that is lost has nothing to roll back, and says so in the error at hand.
      await tx.rollback().catch(() => undefined);
      throw new Undone(error);
    }
  }

  return async (member) => {
    try {
      return await new Promise<Result>((resolve, reject) => {
        waiting.push({ member, resolve, reject });
        void writeAllWaiting();
      });
    } finally {
      const key = apart(member);
      if (key !== undefined) keysUnderWay.delete(key);
      void writeAllWaiting();
    }
  };
}

/** A transaction that certainly wrote nothing. */
class Undone extends Error {
  constructor(cause: unknown) {
    super("the transaction was rolled back", { cause });
  }

  /** Not when the database is away, overloaded or silent: it would be so for each member again. */
  get worthGoingOn(): boolean {
    return !isPassingDatabaseError(this.cause) || isContention(this.cause);
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
  return error instanceof Undone ? error.cause : error;
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
