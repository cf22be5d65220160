import { MAX_WAIT_MS, onBehalfOfAll } from "./connection-shares.ts";
import { OverloadedError } from "./database-error.ts";
import { type Place, placeOf } from "./nodes.ts";
import type { EntityManager } from "./orm.ts";
import { createSemaphore, type Semaphore } from "./semaphore.ts";

/** How often members that have waited too long are rejected, in milliseconds. */
const SWEEP_MS = 250;
/** How many groups of a lane are in flight at a time; more were slower, since each gathers fewer members. */
const GROUPS_IN_FLIGHT = 2;
/** After how long a slow group no longer holds up the next one, in milliseconds. */
const SLOW_GROUP_MS = 100;

/** A member that waits to be written, and the promise of its result; times are on the clock of `performance.now()`. */
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

/** Rejects a member that has waited too long, with what it waited for, if that is known. */
export function rejectLate(
  { reject }: Pick<Waiting<unknown, unknown>, "reject">,
  cause?: unknown,
): void {
  reject(new OverloadedError({ cause }));
}

/** Called for each group that is taken: its size, and how long its first member waited. */
export type ObserveGroup = (members: number, waitedMs: number) => void;

export type ObserveGroups = (name: string) => ObserveGroup;

export interface QueueOptions<Member, Result> {
  readonly em: EntityManager;
  readonly maxMembers: number;
  /** Where the database is distributed by workspace, a group is of workspaces that one node has. */
  readonly workspaceOf: (member: Member) => number;
  /** Whether groups go to the coordinator of such a database instead. */
  readonly onCoordinator?: boolean;
  /** Members with the same key are never in flight at the same time. */
  readonly serializeBy: (member: Member) => string | undefined;
  readonly observe: ObserveGroup;
  readonly maxWaitMs?: number | undefined;
  /** A permit of that of its place is held for each group that is in flight, slow ones included. */
  readonly permitsOf: (place: Place) => Semaphore;
  /** Sends a group and settles its members; must not reject. */
  readonly send: (group: readonly Waiting<Member, Result>[], place: Place) => Promise<void>;
}

/**
 * Builds a queue whose members are sent in groups: those that arrive in one tick, and then those that
 * arrive while two groups are in flight.
 *
 * @returns adds a member, whose caller stops waiting at `deadlineMs` on the clock of
 * `performance.now()`. Resolves with its result; rejects with OverloadedError when it is not sent by
 * then, or within `maxWaitMs`
 */
export function createGroupQueue<Member, Result>(
  options: QueueOptions<Member, Result>,
): (member: Member, deadlineMs: number) => Promise<Result> {
  const { em, workspaceOf, onCoordinator = false } = options;
  /** By where members are written. */
  const lanes = new Map<Place, Lane<Member, Result> & { members: number }>();
  let sweeping: NodeJS.Timeout | undefined;

  /** Rejects what has waited too long, and forgets lanes that nobody is in: not at once, since a lane for each member is dear. */
  function sweep(): void {
    for (const [place, lane] of lanes) {
      lane.sweep();
      if (lane.members === 0) lanes.delete(place);
    }
    sweeping = lanes.size === 0 ? undefined : setTimeout(sweep, SWEEP_MS);
  }

  return async (member, deadlineMs) => {
    const workspace = workspaceOf(member);
    const place = onCoordinator ? workspace : await placeOf(em, workspace);
    const lane = lanes.getOrInsertComputed(place, () => ({
      ...createLane(options, place),
      members: 0,
    }));
    sweeping ??= setTimeout(sweep, SWEEP_MS);
    lane.members++;
    try {
      return await lane.add(member, deadlineMs);
    } finally {
      if (--lane.members > 0) lane.drain();
    }
  };
}

interface Lane<Member, Result> {
  add(member: Member, deadlineMs: number): Promise<Result>;
  /** Sends what waits, at the end of the tick. */
  drain(): void;
  sweep(): void;
}

function createLane<Member, Result>(
  options: QueueOptions<Member, Result>,
  place: Place,
): Lane<Member, Result> {
  const queue = createQueue<Member, Result>(options);
  const sendAll = createDrain(queue, options, place);
  let isScheduled = false;
  const sendOnce = () => {
    isScheduled = false;
    void onBehalfOfAll(sendAll);
  };
  function drain(): void {
    if (!isScheduled) queueMicrotask(sendOnce);
    isScheduled = true;
  }
  return {
    drain,
    sweep: queue.sweep,
    add(member, deadlineMs) {
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

  /** Frees the key before the member is settled, so that the next one with it can follow. */
  function holdKey(taken: Waiting<Member, Result>, key: string | undefined) {
    if (key === undefined) return taken;
    keysInFlight.add(key);
    const release = <T>(settle: (value: T) => void) => {
      return (value: T) => {
        keysInFlight.delete(key);
        settle(value);
      };
    };
    return { ...taken, resolve: release(taken.resolve), reject: release(taken.reject) };
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
     * Takes the members of the next group, which whoever takes them must settle. Leaves out those
     * whose key is in flight.
     */
    takeGroup(): Waiting<Member, Result>[] {
      const group: typeof waiting = [];
      const left: typeof waiting = [];
      const nowMs = performance.now();
      for (const one of waiting) {
        const key = serializeBy(one.member);
        const isHeldUp = key !== undefined && keysInFlight.has(key);
        if (isHeldUp || isLate(one, nowMs) || group.length === maxMembers) left.push(one);
        else group.push(holdKey(one, key));
      }
      waiting = left;
      if (group.length > 0) observe(group.length, nowMs - group[0]!.sinceMs);
      return group;
    },
  };
}

/** Builds what sends a queue's groups, one after the other, until there is none to take. */
function createDrain<Member, Result>(
  queue: Queue<Member, Result>,
  { permitsOf, send }: QueueOptions<Member, Result>,
  place: Place,
): () => Promise<void> {
  const all = permitsOf(place);
  const fast = createSemaphore(GROUPS_IN_FLIGHT);
  let isDraining = false;
  return async () => {
    if (isDraining) return;
    isDraining = true;
    while (queue.hasMembers()) {
      await fast.acquire();
      await all.acquire();
      const group = queue.takeGroup();
      const sent = send(group, place).finally(all.release);
      void settledOrAfter(SLOW_GROUP_MS, sent).then(fast.release);
      // The rest wait to be rejected as late, or for a member with their key, whose end drains again.
      if (group.length === 0) break;
    }
    isDraining = false;
  };
}

/** Resolves when work has ended, or after `ms` milliseconds. The work must not reject. */
function settledOrAfter(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  void work.finally(() => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
