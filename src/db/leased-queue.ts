import { setTimeout as sleep } from "node:timers/promises";

/** Pause before polling again for a workspace that has reached its limit, in milliseconds. */
const PAUSE_MS = 500;

export interface WorkItem {
  readonly workspace: number;
  /** Identifies the item within its workspace. Absent if a workspace has at most one item. */
  readonly reference?: string;
}

/** Due work in a table that replicas share. A replica leases an item before processing it. */
export interface LeasedQueue<Item extends WorkItem> {
  /** Maximum number of concurrent items in a process, in total and per workspace. */
  readonly concurrency: number;
  readonly workspaceConcurrency: number;
  /** Finds due items without a lease, the most urgent first, except those of some workspaces. */
  find(limit: number, exceptWorkspaces: readonly number[]): Promise<Item[]>;
  /** Leases and processes an item, unless another process has leased it. */
  work(item: Item): Promise<unknown>;
}

export interface Workers {
  /** Waits for a free slot, starts due items without awaiting them, and returns whether more may be due. */
  startDue(): Promise<boolean>;
  /** Resolves when no item is being processed. */
  idle(): Promise<void>;
}

/**
 * Creates workers that each start the next item as soon as an item finishes. Slow items delay neither
 * other items nor other workspaces.
 */
export function createWorkers<Item extends WorkItem>(
  { concurrency, workspaceConcurrency, find, work }: LeasedQueue<Item>,
  failed: (error: unknown) => void,
): Workers {
  const running = new Map<string, { readonly workspace: number; readonly ended: Promise<void> }>();
  const ended = () => [...running.values()].map((each) => each.ended);
  const hasShare = (workspace: number) =>
    [...running.values()].filter((each) => each.workspace === workspace).length >= workspaceConcurrency;

  /**
   * Starts an item and returns true. Returns false if the workspace has reached its limit, or if the
   * item is already in progress because its lease is still being acquired.
   */
  function startOne(item: Item): boolean {
    const { workspace } = item;
    const name = `${workspace} ${item.reference}`;
    if (running.has(name) || hasShare(workspace)) return false;
    const done = work(item).then(() => undefined, failed);
    running.set(name, { workspace, ended: done.finally(() => running.delete(name)) });
    return true;
  }

  return {
    async startDue() {
      if (running.size >= concurrency) await Promise.race(ended());
      const workspaces = new Set([...running.values()].map(({ workspace }) => workspace));
      const excepted = [...workspaces].filter(hasShare);
      const found = await find(concurrency, excepted);
      const started = found.filter((item) => running.size < concurrency && startOne(item));
      const isMoreFound = found.length > started.length || found.length === concurrency;
      if (started.length > 0) return isMoreFound || excepted.length > 0;
      if (excepted.length === 0) return false;
      // Due items of these workspaces can start as soon as one of their items finishes.
      await Promise.race([...ended(), sleep(PAUSE_MS, undefined, { ref: false })]);
      return true;
    },
    async idle() {
      await Promise.all(ended());
    },
  };
}
