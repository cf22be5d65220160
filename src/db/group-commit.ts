import {
  RolledBackError,
  writeTogether,
  type GroupWork,
  type Outcome,
} from "./group-transaction.ts";
import {
  createDrain,
  createGroupQueue,
  isLate,
  rejectLate,
  type ObserveGroup,
  type ObserveGroups,
  type Waiting,
} from "./group-queue.ts";
import { onBehalfOfAll } from "./connection-shares.ts";
import { MAX_CONNECTIONS, type EntityManager } from "./orm.ts";
import { createSemaphore, type Semaphore } from "./semaphore.ts";
import { traceTransaction, type TransactionParent } from "./trace-transaction.ts";

/** How many transactions are in flight at most; the other connections are for reading. */
const MAX_TRANSACTIONS = MAX_CONNECTIONS - 4;
/** How often a group, and then a member alone, is tried that collides with another transaction. */
const MAX_GROUP_TRIES = 2;
const MAX_MEMBER_TRIES = 3;

/** What a group needs to know about its members. */
export interface GroupOptions<Member, Result> {
  /** What its members are, for whoever observes groups. */
  readonly name: string;
  /** How many members one transaction takes at most. */
  readonly maxMembers: number;
  /**
   * At most one member with a key is in flight; the others wait for its end. Undefined for no key.
   * Members that lock or replace the same row must have the same key.
   */
  readonly serializeBy: (member: Member) => string | undefined;
  /** When the caller of a member stops waiting, on the clock of `performance.now()`. */
  readonly deadlineMs: (member: Member) => number;
  readonly work: GroupWork<Member, Result>;
  /** The span of the call that a member is for. */
  readonly spanOf?: (member: Member) => TransactionParent | undefined;
}

/**
 * Group commit: members that arrive while others are being written are written together in the next
 * transaction, and share its round trips and its commit. A member that arrives when none
 * is in flight is written at once.
 *
 * Members fail independently, though they share a transaction. One that `work` refuses is left out.
 * When the database refuses the transaction, or a lock times out, nothing of it was
 * written, and its members are written one by one. When the database is away, or a commit fails, all
 * are rejected: whether that commit took place is unknown, and repeating it could write twice.
 *
 * @returns takes a member, and resolves with its result once that is committed. Rejects with
 * OverloadedError when it is not written by its deadline or within 2 seconds, and then never is
 */
export type CreateGroup = <Member, Result>(
  options: GroupOptions<Member, Result>,
) => (member: Member) => Promise<Result>;

/** Builds the group commits of one ORM, which share its connections. */
export function createGroupCommit(em: EntityManager, observeGroups: ObserveGroups): CreateGroup {
  const transactions = createSemaphore(MAX_TRANSACTIONS);
  return (options) =>
    createGroup(em, transactions, { ...options, observe: observeGroups(options.name) });
}

function createGroup<Member, Result>(
  em: EntityManager,
  transactions: Semaphore,
  options: GroupOptions<Member, Result> & { readonly observe: ObserveGroup },
): (member: Member) => Promise<Result> {
  const queue = createGroupQueue<Member, Result>(options);
  const writeGroup = createGroupWriter(em, transactions, options);
  const drain = createDrain(queue, transactions, writeGroup);
  return async (member) => {
    try {
      const written = queue.add(member, options.deadlineMs(member));
      void onBehalfOfAll(drain);
      return await written;
    } finally {
      void onBehalfOfAll(drain);
    }
  };
}

type Group<Member, Result> = readonly Waiting<Member, Result>[];

/**
 * Builds what writes a group and settles each of its members.
 *
 * @param transactions a permit of it is held by whoever calls; members that are written alone
 * acquire one each
 */
function createGroupWriter<Member, Result>(
  em: EntityManager,
  transactions: Semaphore,
  { work, spanOf = () => undefined }: Pick<GroupOptions<Member, Result>, "work" | "spanOf">,
): (group: Group<Member, Result>) => Promise<void> {
  const write = (group: Group<Member, Result>) => {
    const members = group.map(({ member }) => member);
    return traceTransaction(members.map(spanOf), () => writeTogether(em, members, work));
  };

  async function writeGroup(group: Group<Member, Result>, tries = 1): Promise<void> {
    if (group.length === 0) return;
    if (group.length === 1) return writeMember(group[0]!);
    try {
      settle(group, await write(group));
    } catch (error) {
      if (collides(error) && tries < MAX_GROUP_TRIES) return writeGroup(group, tries + 1);
      if (error instanceof RolledBackError && error.mayRetryMembers) group.forEach(writeLater);
      else for (const { reject } of group) reject(causeOf(error));
    }
  }

  async function writeMember(waiting: Waiting<Member, Result>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return settle([waiting], await write([waiting]));
      } catch (error) {
        if (!collides(error) || tries === MAX_MEMBER_TRIES) return waiting.reject(causeOf(error));
      }
    }
  }

  /** Writes a member alone once a transaction is free; not waited for, so that groups go on. */
  function writeLater(waiting: Waiting<Member, Result>): void {
    void transactions
      .acquire()
      .then(() => (isLate(waiting) ? rejectLate(waiting) : writeMember(waiting)))
      .finally(transactions.release);
  }

  return writeGroup;
}

function collides(error: unknown): boolean {
  return error instanceof RolledBackError && error.isCollision;
}

function causeOf(error: unknown): unknown {
  return error instanceof RolledBackError ? error.cause : error;
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
