import { setTimeout as sleep } from "node:timers/promises";
import { createGroupQueue, isLate, rejectLate, type ObserveGroups, type Waiting } from "./group-queue.ts";
import { MAX_CONNECTIONS, type EntityManager } from "./orm.ts";
import { createSemaphores, type WorkspaceNode } from "./servers.ts";
import type { Semaphore } from "./semaphore.ts";
import { causeOf, inPipeline, RolledBackError, type Transaction } from "./transaction.ts";
import { traceTransaction, type TransactionParent } from "./trace-transaction.ts";

/** Maximum number of transactions in flight per node. The remaining four connections are for reads. */
const MAX_TRANSACTIONS = MAX_CONNECTIONS - 4;
/** Attempts at a colliding group before falling back to one transaction per member. */
const MAX_GROUP_TRIES = 2;
/** Maximum backoff of a colliding member, in milliseconds. */
const MAX_PAUSE_MS = 100;

/**
 * Lock timeout for a group with several members, in milliseconds. After the timeout the group is rolled
 * back and its members are written one by one, so that only the member that needs the lock waits.
 */
const GROUP_LOCK_TIMEOUT_MS = 100;

/** Outcome of one group member: its result, or its refusal. */
export type Outcome<Result> = { readonly result: Result } | { readonly refused: unknown };

/** Processes the members in order, in a transaction that the caller commits. */
type GroupWork<Member, Result> = (tx: Transaction, members: readonly Member[]) => Promise<Outcome<Result>[]>;

export interface GroupOptions<Member, Result> {
  readonly name: string;
  readonly maxMembers: number;
  readonly workspaceOf: (member: Member) => number;
  /**
   * Returns the member's key, `undefined` for none. At most one member with the same key is in flight.
   * Members that lock or replace the same row must have the same key.
   */
  readonly serializeBy: (member: Member) => string | undefined;
  /** Deadline of the member's caller, on the clock of `performance.now()`. */
  readonly deadlineMs: (member: Member) => number;
  readonly work: GroupWork<Member, Result>;
  readonly spanOf?: (member: Member) => TransactionParent | undefined;
  /** Whether the work also writes platform tables, which exist only on the coordinator of a distributed database. */
  readonly onCoordinator?: boolean;
}

/**
 * Creates a group commit: members that arrive during a transaction share the next transaction, with its
 * round trips and commit. A member that arrives when no transaction is in flight is written immediately.
 *
 * Members fail independently. If `work` refuses a member, the others are still written. If the database rejects the
 * transaction or a lock times out, nothing was written, and the members are written one by one. A member that collides
 * with other transactions is retried until it is written or refused, or its deadline has passed. If the database is
 * unreachable or a commit fails, all members are rejected: the outcome of the commit is unknown, and a retry could
 * write twice.
 *
 * @returns a function that accepts a member and resolves with its result after the commit. It rejects with
 *   OverloadedError, without writing the member, if the member is not written by its deadline or waits too long
 */
export type CreateGroup = <Member, Result>(
  options: GroupOptions<Member, Result>,
) => (member: Member) => Promise<Result>;

/**
 * Creates the group commits of one ORM, which share its connections. On a distributed database, all
 * workspaces of a group are on one node.
 */
export function createGroupCommit(em: EntityManager, observeGroups: ObserveGroups, maxWaitMs?: number): CreateGroup {
  const semaphoreOf = createSemaphores(MAX_TRANSACTIONS);
  return <Member, Result>(options: GroupOptions<Member, Result>) => {
    const add = createGroupQueue<Member, Result>({
      ...options,
      em,
      observe: observeGroups(options.name),
      maxWaitMs,
      semaphoreOf,
      send: createGroupWriter(em, semaphoreOf, options),
    });
    return (member: Member): Promise<Result> => add(member, options.deadlineMs(member));
  };
}

type Group<Member, Result> = readonly Waiting<Member, Result>[];

/**
 * Writes a group and settles its members. The caller holds a permit for the group. Members that are
 * written individually acquire one permit each.
 */
function createGroupWriter<Member, Result>(
  em: EntityManager,
  semaphoreOf: (node: WorkspaceNode) => Semaphore,
  {
    work,
    workspaceOf,
    spanOf = () => undefined,
  }: Pick<GroupOptions<Member, Result>, "work" | "workspaceOf" | "spanOf">,
): (group: Group<Member, Result>, node: WorkspaceNode) => Promise<void> {
  const write = (group: Group<Member, Result>, node: WorkspaceNode) => {
    const members = group.map(({ member }) => member);
    const options = {
      node,
      workspaces: members.map(workspaceOf),
      lockTimeoutMs: members.length > 1 ? GROUP_LOCK_TIMEOUT_MS : undefined,
    };
    return traceTransaction(members.map(spanOf), () => inPipeline(em, (tx) => work(tx, members), options));
  };

  async function writeGroup(group: Group<Member, Result>, node: WorkspaceNode, tries = 1): Promise<void> {
    if (group.length === 0) return;
    if (group.length === 1) return writeMember(group[0]!, node);
    try {
      settle(group, await write(group, node));
    } catch (error) {
      if (collides(error) && tries < MAX_GROUP_TRIES) return writeGroup(group, node, tries + 1);
      if (error instanceof RolledBackError && error.mayRetryParts)
        for (const waiting of group) writeLater(waiting, node);
      else for (const { reject } of group) reject(causeOf(error));
    }
  }

  async function writeMember(waiting: Waiting<Member, Result>, node: WorkspaceNode): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return settle([waiting], await write([waiting], node));
      } catch (error) {
        if (!collides(error)) return waiting.reject(causeOf(error));
        if (isLate(waiting)) return rejectLate(waiting, causeOf(error));
        await sleep(Math.min(2 ** tries, MAX_PAUSE_MS));
      }
    }
  }

  /** Writes a member individually once a permit is available. Not awaited, so that other groups are not delayed. */
  function writeLater(waiting: Waiting<Member, Result>, node: WorkspaceNode): void {
    const transactions = semaphoreOf(node);
    void transactions
      .acquire()
      .then(() => (isLate(waiting) ? rejectLate(waiting) : writeMember(waiting, node)))
      .finally(transactions.release);
  }

  return writeGroup;
}

function collides(error: unknown): boolean {
  return error instanceof RolledBackError && error.isCollision;
}

function settle<Member, Result>(group: Group<Member, Result>, outcomes: readonly Outcome<Result>[]): void {
  group.forEach(({ resolve, reject }, i) => {
    const outcome = outcomes[i]!;
    if ("result" in outcome) resolve(outcome.result);
    else reject(outcome.refused);
  });
}
