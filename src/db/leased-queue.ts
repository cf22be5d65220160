import { setTimeout as sleep } from "node:timers/promises";

/** Pause before polling again for a workspace that has reached its share, in milliseconds. */
const REST_MS = 500;

export interface WorkItem {
  readonly workspace: number;
  /** Identifies it within the workspace. Absent if a workspace has at most one. */
  readonly reference?: string;
}

/** Due work in a table, shared by replicas. Each replica leases an item before processing it. */
export interface LeasedQueue<Item extends WorkItem> {
  /** Maximum concurrent items of a process, in total and per workspace. */
  readonly atOnce: number;
  readonly ofWorkspace: number;
  /** Finds due items without a lease, the most urgent first, excluding some workspaces. */
  find(limit: number, exceptWorkspaces: readonly number[]): Promise<Item[]>;
  /** Leases and processes an item, unless another process has leased it. */
  work(item: Item): Promise<unknown>;
}

export interface Workers {
  /** Waits for a free slot, starts due items without awaiting them, and returns whether more may be due. */
  begin(): Promise<boolean>;
  /** Resolves when no item is being processed. */
  idle(): Promise<void>;
}

/**
 * Creates workers that each take the next item as soon as the previous one ends. A slow item delays
 * no other, and a workspace with slow items delays no other workspace.
 */
export function createWorkers<Item extends WorkItem>(
  { atOnce, ofWorkspace, find, work }: LeasedQueue<Item>,
  failed: (error: unknown) => void,
): Workers {
  const inHand = new Map<string, { readonly workspace: number; readonly ended: Promise<void> }>();
  const ended = () => [...inHand.values()].map((each) => each.ended);
  const hasShare = (workspace: number) =>
    [...inHand.values()].filter((each) => each.workspace === workspace).length >= ofWorkspace;

  /**
   * Returns whether it started the item. A found item may already be in progress while its lease is being acquired.
   */
  function beginOne(item: Item): boolean {
    const { workspace } = item;
    const name = `${workspace} ${item.reference}`;
    if (inHand.has(name) || hasShare(workspace)) return false;
    const done = work(item).then(() => undefined, failed);
    inHand.set(name, { workspace, ended: done.finally(() => inHand.delete(name)) });
    return true;
  }

  return {
    async begin() {
      if (inHand.size >= atOnce) await Promise.race(ended());
      const workspaces = new Set([...inHand.values()].map(({ workspace }) => workspace));
      const excepted = [...workspaces].filter(hasShare);
      const found = await find(atOnce, excepted);
      const begun = found.filter((item) => inHand.size < atOnce && beginOne(item));
      const isMoreFound = found.length > begun.length || found.length === atOnce;
      if (begun.length > 0) return isMoreFound || excepted.length > 0;
      if (excepted.length === 0) return false;
      // Due items of these workspaces start as soon as one of theirs ends.
      await Promise.race([...ended(), sleep(REST_MS, undefined, { ref: false })]);
      return true;
    },
    async idle() {
      await Promise.all(ended());
    },
  };
}
