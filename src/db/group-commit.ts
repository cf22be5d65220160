import { setTimeout as sleep } from "node:timers/promises";
import {
  createGroupQueue,
  isLate,
  rejectLate,
  type ObserveGroups,
  type Waiting,
} from "./group-queue.ts";
import { createPermits, type Place } from "./nodes.ts";
import { MAX_CONNECTIONS, type EntityManager } from "./orm.ts";
import type { Semaphore } from "./semaphore.ts";
import { causeOf, inPipeline, RolledBackError, type Transaction } from "./transaction.ts";
import { traceTransaction, type TransactionParent } from "./trace-transaction.ts";

/** How many transactions are in flight at a node at most; the other connections are for reading. */
const MAX_TRANSACTIONS = MAX_CONNECTIONS - 4;
/** How often a group is tried that collides with other transactions, before each member is alone. */
const MAX_GROUP_TRIES = 2;
/** How long a member that collides waits at most until it is tried again, in milliseconds. */
const MAX_PAUSE_MS = 100;

/**
 * How long a group of several waits for a lock, in milliseconds. It is then rolled back and its
 * members are written one by one, so that only the member that needs the lock waits for it.
 */
const GROUP_LOCK_TIMEOUT_MS = 100;

/** What came of one member of a group: its result, or why it alone was refused. */
export type Outcome<Result> = { readonly result: Result } | { readonly refused: unknown };

/** Does the work of members, in their order, in a transaction that is committed afterwards. */
export type GroupWork<Member, Result> = (
  tx: Transaction,
  members: readonly Member[],
) => Promise<Outcome<Result>[]>;

export interface GroupOptions<Member, Result> {
  readonly name: string;
  readonly maxMembers: number;
  readonly workspaceOf: (member: Member) => number;
  /**
   * At most one member with a key is in flight; the others wait for its end. Undefined for no key.
   * Members that lock or replace the same row must have the same key.
   */
  readonly serializeBy: (member: Member) => string | undefined;
  /** When the caller of a member stops waiting, on the clock of `performance.now()`. */
  readonly deadlineMs: (member: Member) => number;
  readonly work: GroupWork<Member, Result>;
  readonly spanOf?: (member: Member) => TransactionParent | undefined;
  /** Whether the work also writes tables of the platform, which only the coordinator of a distributed database has. */
  readonly onCoordinator?: boolean;
}

/**
 * Group commit: members that arrive while others are being written are written together in the next
 * transaction, and share its round trips and its commit. A member that arrives when none
 * is in flight is written at once.
 *
 * Members fail independently, though they share a transaction. One that `work` refuses is left out.
 * When the database refuses the transaction, or a lock times out, nothing of it was
 * written, and its members are written one by one; one that collides with other transactions is tried again until it
 * is written, refused or late. When the database is away, or a commit fails, all
 * are rejected: whether that commit took place is unknown, and repeating it could write twice.
 *
 * @returns takes a member, and resolves with its result once that is committed. Rejects with
 * OverloadedError when it is not written by its deadline or waits too long, and then never is
 */
export type CreateGroup = <Member, Result>(
  options: GroupOptions<Member, Result>,
) => (member: Member) => Promise<Result>;

/**
 * Builds the group commits of one ORM, which share its connections. Where the database is distributed by
 * workspace, each group is of workspaces that one node has, to which it goes.
 */
export function createGroupCommit(
  em: EntityManager,
  observeGroups: ObserveGroups,
  maxWaitMs?: number,
): CreateGroup {
  const permitsOf = createPermits(em, MAX_TRANSACTIONS);
  return <Member, Result>(options: GroupOptions<Member, Result>) => {
    const add = createGroupQueue<Member, Result>({
      ...options,
      em,
      observe: observeGroups(options.name),
      maxWaitMs,
      permitsOf,
      send: createGroupWriter(em, permitsOf, options),
    });
    return (member: Member): Promise<Result> => add(member, options.deadlineMs(member));
  };
}

type Group<Member, Result> = readonly Waiting<Member, Result>[];

/** Writes a group and settles its members. The caller holds a permit; members that are written alone acquire one each. */
function createGroupWriter<Member, Result>(
  em: EntityManager,
  permitsOf: (place: Place) => Semaphore,
  {
    work,
    workspaceOf,
    spanOf = () => undefined,
  }: Pick<GroupOptions<Member, Result>, "work" | "workspaceOf" | "spanOf">,
): (group: Group<Member, Result>, place: Place) => Promise<void> {
  const write = (group: Group<Member, Result>, place: Place) => {
    const members = group.map(({ member }) => member);
    const options = {
      place,
      workspaces: members.map(workspaceOf),
      lockTimeoutMs: members.length > 1 ? GROUP_LOCK_TIMEOUT_MS : undefined,
    };
    return traceTransaction(members.map(spanOf), () =>
      inPipeline(em, (tx) => work(tx, members), options),
    );
  };

  async function writeGroup(group: Group<Member, Result>, place: Place, tries = 1): Promise<void> {
    if (group.length === 0) return;
    if (group.length === 1) return writeMember(group[0]!, place);
    try {
      settle(group, await write(group, place));
    } catch (error) {
      if (collides(error) && tries < MAX_GROUP_TRIES) return writeGroup(group, place, tries + 1);
      if (error instanceof RolledBackError && error.mayRetryParts)
        for (const waiting of group) writeLater(waiting, place);
      else for (const { reject } of group) reject(causeOf(error));
    }
  }

  async function writeMember(waiting: Waiting<Member, Result>, place: Place): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return settle([waiting], await write([waiting], place));
      } catch (error) {
        if (!collides(error)) return waiting.reject(causeOf(error));
        if (isLate(waiting)) return rejectLate(waiting, causeOf(error));
        await sleep(Math.min(2 ** tries, MAX_PAUSE_MS));
      }
    }
  }

  /** Writes a member alone once a transaction is free; not waited for, so that groups go on. */
  function writeLater(waiting: Waiting<Member, Result>, place: Place): void {
    const transactions = permitsOf(place);
    void transactions
      .acquire()
      .then(() => (isLate(waiting) ? rejectLate(waiting) : writeMember(waiting, place)))
      .finally(transactions.release);
  }

  return writeGroup;
}

function collides(error: unknown): boolean {
  return error instanceof RolledBackError && error.isCollision;
}

function settle<Member, Result>(
  group: Group<Member, Result>,
  outcomes: readonly Outcome<Result>[],
): void {
  group.forEach(({ resolve, reject }, i) => {
    const outcome = outcomes[i]!;
    if ("result" in outcome) resolve(outcome.result);
    else reject(outcome.refused);
  });
}
