import { MAX_WAIT_MS, onBehalfOfAll } from "./connection-shares.ts";
import { OverloadedError } from "./database-error.ts";
import type { EntityManager } from "./orm.ts";
import { createSemaphore, type Semaphore } from "./semaphore.ts";
import type { WorkspaceNode } from "./servers.ts";
import { serversOf } from "./servers-of.ts";

/** Interval between checks for members past their deadline, in milliseconds. */
const SWEEP_MS = 250;
/** Maximum number of groups in flight per node. A larger limit is slower, because groups then have fewer members. */
const GROUPS_IN_FLIGHT = 2;
/** Time after which a slow group no longer counts towards `GROUPS_IN_FLIGHT`, in milliseconds. */
const SLOW_GROUP_MS = 100;

/** A waiting member with the functions that settle its promise. Times are on the clock of `performance.now()`. */
export interface Waiting<Member, Result> {
  readonly member: Member;
  readonly sinceMs: number;
  readonly expiresAtMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export function isLate(
  { expiresAtMs }: Pick<Waiting<unknown, unknown>, "expiresAtMs">,
  nowMs = performance.now(),
): boolean {
  return expiresAtMs <= nowMs;
}

/** Rejects a member past its deadline. The error contains the cause of the delay, if known. */
export function rejectLate({ reject }: Pick<Waiting<unknown, unknown>, "reject">, cause?: unknown): void {
  reject(new OverloadedError({ cause }));
}

/** Called for each group with its size and the waiting time of its first member. */
export type ObserveGroup = (members: number, waitedMs: number) => void;

export type ObserveGroups = (name: string) => ObserveGroup;

export interface QueueOptions<Member, Result> {
  readonly em: EntityManager;
  readonly maxMembers: number;
  /** Returns the member's workspace. On a distributed database, all workspaces of a group are on one node. */
  readonly workspaceOf: (member: Member) => number;
  /**
   * Whether a distributed database writes the groups on the coordinator. Each group then contains a single workspace.
   */
  readonly onCoordinator?: boolean;
  /** Members with the same key are never in flight at the same time. */
  readonly serializeBy: (member: Member) => string | undefined;
  readonly observe: ObserveGroup;
  readonly maxWaitMs?: number | undefined;
  /** Returns the semaphore of a server. Each group in flight holds one permit. */
  readonly semaphoreOf: (node: WorkspaceNode) => Semaphore;
  /** Sends a group and settles its members. Must not reject. */
  readonly send: (group: readonly Waiting<Member, Result>[], node: WorkspaceNode) => Promise<void>;
}

/**
 * Creates a queue that sends members in groups. A group contains the members that arrived in one tick
 * or while two groups were in flight.
 *
 * @returns a function that adds a member. Its caller waits until `deadlineMs` on the clock of
 *   `performance.now()`. It resolves with the member's result, or rejects with OverloadedError if the
 *   member is not sent by the deadline or within `maxWaitMs`
 */
export function createGroupQueue<Member, Result>(
  options: QueueOptions<Member, Result>,
): (member: Member, deadlineMs: number) => Promise<Result> {
  const { em, workspaceOf, onCoordinator = false } = options;
  const queues = new Map<WorkspaceNode, NodeQueue<Member, Result> & { members: number }>();
  let sweeping: NodeJS.Timeout | undefined;

  /**
   * Rejects members past their deadline and removes empty queues. Empty queues are kept until then, because creating a
   * queue per member is expensive.
   */
  function sweep(): void {
    for (const [node, queue] of queues) {
      queue.sweep();
      if (queue.members === 0) queues.delete(node);
    }
    sweeping = queues.size === 0 ? undefined : setTimeout(sweep, SWEEP_MS);
  }

  return async (member, deadlineMs) => {
    const workspace = workspaceOf(member);
    const node = onCoordinator ? workspace : await (await serversOf(em)).nodeOf(workspace);
    const queue = queues.getOrInsertComputed(node, () => ({
      ...createNodeQueue(options, node),
      members: 0,
    }));
    sweeping ??= setTimeout(sweep, SWEEP_MS);
    queue.members++;
    try {
      return await queue.add(member, deadlineMs);
    } finally {
      if (--queue.members > 0) queue.drain();
    }
  };
}

type NodeQueue<Member, Result> = ReturnType<typeof createNodeQueue<Member, Result>>;

function createNodeQueue<Member, Result>(options: QueueOptions<Member, Result>, node: WorkspaceNode) {
  const queue = createQueue<Member, Result>(options);
  const sendAll = createDrain(queue, options, node);
  let isScheduled = false;
  const sendOnce = () => {
    isScheduled = false;
    void onBehalfOfAll(sendAll);
  };
  /** Sends waiting members at the end of the tick. */
  function drain(): void {
    if (!isScheduled) queueMicrotask(sendOnce);
    isScheduled = true;
  }
  return {
    drain,
    sweep: queue.sweep,
    add(member: Member, deadlineMs: number): Promise<Result> {
      const sent = queue.add(member, deadlineMs);
      drain();
      return sent;
    },
  };
}

type Queue<Member, Result> = ReturnType<typeof createQueue<Member, Result>>;

function createQueue<Member, Result>({
  maxMembers,
  serializeBy,
  observe,
  maxWaitMs = MAX_WAIT_MS,
}: QueueOptions<Member, Result>) {
  const keysInFlight = new Set<string>();
  let waiting: Waiting<Member, Result>[] = [];

  /**
   * Marks the key as in flight until the member settles. Releases the key just before, so that the next member with the
   * key can start.
   */
  function holdKey(entry: Waiting<Member, Result>, key: string | undefined) {
    if (key === undefined) return entry;
    keysInFlight.add(key);
    const release = <T>(settle: (value: T) => void) => {
      return (value: T) => {
        keysInFlight.delete(key);
        settle(value);
      };
    };
    return { ...entry, resolve: release(entry.resolve), reject: release(entry.reject) };
  }

  return {
    hasMembers: () => waiting.length > 0,
    sweep(): void {
      const late = new Set(waiting.filter((one) => isLate(one)));
      waiting = waiting.filter((one) => !late.has(one));
      for (const one of late) rejectLate(one);
    },
    add(member: Member, deadlineMs: number): Promise<Result> {
      const sinceMs = performance.now();
      const expiresAtMs = Math.min(deadlineMs, sinceMs + maxWaitMs);
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      waiting.push({ member, sinceMs, expiresAtMs, resolve, reject });
      return promise;
    },
    /**
     * Removes and returns the members of the next group, except members whose key is in flight. The
     * caller must settle the returned members.
     */
    nextGroup(): Waiting<Member, Result>[] {
      const group: typeof waiting = [];
      const left: typeof waiting = [];
      const nowMs = performance.now();
      for (const one of waiting) {
        const key = serializeBy(one.member);
        const isKeyInFlight = key !== undefined && keysInFlight.has(key);
        if (isKeyInFlight || isLate(one, nowMs) || group.length === maxMembers) left.push(one);
        else group.push(holdKey(one, key));
      }
      waiting = left;
      if (group.length > 0) observe(group.length, nowMs - group[0]!.sinceMs);
      return group;
    },
  };
}

/** Creates a function that sends a queue's groups until the queue is empty. */
function createDrain<Member, Result>(
  queue: Queue<Member, Result>,
  { semaphoreOf, send }: QueueOptions<Member, Result>,
  node: WorkspaceNode,
): () => Promise<void> {
  const all = semaphoreOf(node);
  const fast = createSemaphore(GROUPS_IN_FLIGHT);
  let isDraining = false;
  return async () => {
    if (isDraining) return;
    isDraining = true;
    while (queue.hasMembers()) {
      await fast.acquire();
      await all.acquire();
      const group = queue.nextGroup();
      const sent = send(group, node).finally(all.release);
      void settledOrAfter(SLOW_GROUP_MS, sent).then(fast.release);
      // The keys of all remaining members are in flight. The queue is drained again when a key is released.
      if (group.length === 0) break;
    }
    isDraining = false;
  };
}

/** Resolves when the work has settled or after `ms` milliseconds. The work must not reject. */
function settledOrAfter(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  void work.finally(() => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
