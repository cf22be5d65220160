import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Repeat } from "./repeat.ts";
import { createWaiter } from "./waiter.ts";

/** Default interval between polls, in milliseconds. */
const POLL_MS = 500;
/** Pause after a failed poll, in milliseconds. */
const RETRY_MS = 1_000;
/** First and maximum pause while a queue's receiver is unreachable, in milliseconds. Doubles with each failure. */
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 60_000;

export interface WorkItem {
  readonly workspace: number;
  /** Identifies the item within its workspace. Absent if a workspace has at most one item. */
  readonly reference?: string;
}

interface Search {
  /** Maximum number of items. Items in progress may be among them. */
  readonly limit: number;
  /** Number of items that can start now, for searches that also lease. */
  readonly room: number;
  readonly exceptWorkspaces: readonly number[];
  /** Announced workspaces to search. `undefined` for all. */
  readonly workspaces: readonly number[] | undefined;
}

export interface QueueControl<Item> {
  /** Searches announced workspaces now. `undefined` for all. */
  wake(workspaces: readonly number[] | undefined): void;
  /** Starts an item that the queue already holds in memory. */
  start(item: Item): void;
  /** Delays the next poll by at least this time, in milliseconds. */
  rest(ms: number): void;
  /** Counts an outcome that is not the result of an item. */
  count(outcome: string): void;
}

/** Due work in a table that replicas share. A replica leases an item before processing it. */
export interface LeasedQueue<Item extends WorkItem = WorkItem> {
  /** Name in logs and metrics. */
  readonly name: string;
  /**
   * Outcomes in metrics. `lost` means that another process leased the item first. `unreachable` means that the
   * receiver of all items is down, so that the queue pauses.
   */
  readonly outcomes: readonly string[];
  /** Interval between polls, in milliseconds. Default 500 */
  readonly pollMs?: number;
  /** Maximum number of concurrent items in a process. Absent if the queue starts its items itself. */
  readonly concurrency?: { readonly total: number; readonly perWorkspace: number };
  /** Finds due items without a lease, the most urgent first. */
  find(search: Search): Promise<readonly Item[]>;
  /** Leases and processes an item. Returns the outcome to count, if any. */
  work(item: Item): Promise<string | undefined>;
  /** Receives the control for announcing and starting items between polls. */
  connect?(control: QueueControl<Item>): void;
  /** Renews leases that outlast an item. Returns the next pause in milliseconds. Never rejects. */
  renew?(): Promise<number>;
  /**
   * Called at shutdown, after the grace period for items in progress.
   *
   * @param idle resolves when no item is in progress
   */
  close?(idle: () => Promise<void>): Promise<unknown>;
}

/**
 * Registers the metrics of a queue. The returned function counts an outcome, or an error if the outcome is `undefined`.
 */
export type ObserveQueue = (
  queue: Pick<LeasedQueue, "name" | "outcomes">,
  inProgress: () => number,
) => (outcome: string | undefined) => void;

export interface QueueDeps {
  readonly log: Pick<Logger, "warn">;
  readonly observeQueue: ObserveQueue;
  /** Override the default interval between polls and the maximum pause, in milliseconds. */
  readonly pollMs?: number | undefined;
  readonly maxRestMs?: number | undefined;
}

/**
 * Creates the workers of a queue. An item starts as soon as another one finishes, so slow items delay neither other
 * items nor other workspaces.
 */
export function createWorkers<Item extends WorkItem>(queue: LeasedQueue<Item>, deps: QueueDeps) {
  const { total = Infinity, perWorkspace = Infinity } = queue.concurrency ?? {};
  const pollMs = Math.min(queue.pollMs ?? deps.pollMs ?? POLL_MS, deps.maxRestMs ?? Infinity);
  const schedule = createSchedule(pollMs, queue.pollMs === undefined);
  const inProgress = new Map<Item, Promise<void>>();
  const count = deps.observeQueue(queue, () => inProgress.size);
  /** Whether items are due that can start once an item in progress finishes. */
  let isMoreDue = false;

  function failed(error: unknown): void {
    count(undefined);
    deps.log.warn({ err: error, queue: queue.name }, "background work failed");
  }

  async function run(item: Item): Promise<void> {
    try {
      const outcome = await queue.work(item);
      if (outcome !== undefined) count(outcome);
      schedule.note(outcome);
    } catch (error) {
      failed(error);
    }
    inProgress.delete(item);
    if (isMoreDue) schedule.wake(undefined);
  }
  const start = (item: Item) => void inProgress.set(item, run(item));

  function startIfAllowed(item: Item): boolean {
    const own = [...inProgress.keys()].filter(({ workspace }) => workspace === item.workspace);
    const isInProgress = own.some(({ reference }) => reference === item.reference);
    if (inProgress.size >= total || own.length >= perWorkspace || isInProgress) return false;
    start(item);
    return true;
  }

  async function startDue(workspaces: readonly number[] | undefined): Promise<void> {
    const room = total - inProgress.size;
    isMoreDue = room === 0;
    if (isMoreDue) return;
    const byWorkspace = Map.groupBy(inProgress.keys(), ({ workspace }) => workspace);
    const exceptWorkspaces = [...byWorkspace].flatMap(([id, items]) => (items.length >= perWorkspace ? [id] : []));
    const found = await queue.find({ limit: total, room, exceptWorkspaces, workspaces });
    const started = found.filter(startIfAllowed).length;
    isMoreDue = found.length > started || found.length >= room || exceptWorkspaces.length > 0;
    if (isMoreDue && started > 0) schedule.pollIn(0);
  }

  queue.connect?.({ start, count, wake: schedule.wake, rest: schedule.rest });
  return {
    /** Ends pauses early when work is announced. */
    waiter: schedule.waiter,
    /** Starts due items without awaiting them. Returns the next pause in milliseconds. Never rejects. */
    async poll(): Promise<number> {
      const workspaces = schedule.drain();
      if (workspaces === undefined || queue.connect !== undefined) {
        await startDue(workspaces).catch((error: unknown) => {
          failed(error);
          schedule.pollIn(RETRY_MS);
        });
      }
      return schedule.pauseMs();
    },
    /** Resolves when no item is in progress. */
    async idle(): Promise<void> {
      while (inProgress.size > 0) await Promise.all(inProgress.values());
    },
  };
}

/**
 * Creates the schedule of a queue's polls.
 *
 * @param isShared polls at multiples of the interval, so that the searches of several queues share a round trip.
 *   Otherwise the interval is randomly shortened by up to a tenth, so that polls of different queues rarely coincide
 *   and need several connections
 */
function createSchedule(pollMs: number, isShared: boolean) {
  const nextPollMs = () =>
    isShared
      ? (Math.floor(performance.now() / pollMs) + 1) * pollMs
      : performance.now() + pollMs * (1 - Math.random() / 10);
  const announced = new Set<number>();
  const waiter = createWaiter();
  let pollAtMs = 0;
  let backoffMs = FIRST_BACKOFF_MS;
  let backoffUntilMs = 0;
  const pauseMs = () => Math.max(0, Math.max(pollAtMs, backoffUntilMs) - performance.now());
  const pollIn = (ms: number) => void (pollAtMs = performance.now() + ms);
  return {
    waiter,
    pauseMs,
    pollIn,
    wake(workspaces: readonly number[] | undefined) {
      if (workspaces === undefined) pollIn(0);
      else for (const workspace of workspaces) announced.add(workspace);
      waiter.notify();
    },
    rest(ms: number) {
      pollAtMs = Math.max(pollAtMs, performance.now() + ms);
    },
    /** Returns and clears the announced workspaces. Returns `undefined`, meaning all, if a poll is due. */
    drain(): readonly number[] | undefined {
      const workspaces = pauseMs() > 0 ? [...announced] : undefined;
      announced.clear();
      if (workspaces === undefined) pollAtMs = nextPollMs();
      return workspaces;
    },
    /** Backs off while the receiver is unreachable. */
    note(outcome: string | undefined) {
      if (outcome === "unreachable" && performance.now() >= backoffUntilMs) {
        backoffUntilMs = performance.now() + backoffMs;
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
      } else if (outcome !== undefined && outcome !== "unreachable") backoffMs = FIRST_BACKOFF_MS;
    },
  };
}

/** Runs a queue until shutdown. Items in progress then have time to finish. */
export function runQueue(queue: LeasedQueue, deps: QueueDeps & { readonly repeat: Repeat }) {
  const { poll, waiter, idle } = createWorkers(queue, deps);
  const polling = deps.repeat(poll, waiter);
  const renewing = queue.renew && deps.repeat(() => queue.renew!());
  return {
    /** Resolves when the queue has stopped and no item is in progress. */
    idle: () => polling.then(idle),
    async close() {
      if (queue.close === undefined) return;
      await Promise.all([polling, renewing]);
      await queue.close(idle);
    },
  };
}

/**
 * Repeats a write until the database accepts it or the signal aborts, because unrecorded work would be repeated.
 *
 * @param onError called after each failure
 */
export async function persist(
  write: () => Promise<unknown>,
  signal: AbortSignal,
  onError?: (error: unknown) => void,
): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      onError?.(error);
      if (signal.aborted) return;
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
