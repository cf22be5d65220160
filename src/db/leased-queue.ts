import { setTimeout as sleep } from "node:timers/promises";

/** How long is waited for a workspace that has its share before others are looked for again, in milliseconds. */
const REST_MS = 500;

export interface WorkItem {
  readonly workspace: number;
  /** Tells it from others of the workspace; none where that has one at most. */
  readonly reference?: string;
}

/** Work that falls due in a table. Replicas share it: each leases a piece before it does it. */
export interface LeasedQueue<Item extends WorkItem> {
  /** How much a process does at once, and how much of that for one workspace. */
  readonly atOnce: number;
  readonly ofWorkspace: number;
  /** Finds what is due and not leased, the most urgent first, but for some workspaces. */
  find(limit: number, exceptWorkspaces: readonly number[]): Promise<Item[]>;
  /** Leases a piece and does it, unless another process has. */
  work(item: Item): Promise<unknown>;
}

export interface Workers {
  /** Once there is room, begins what is due; gives whether more may be due. What it has begun it does not wait for. */
  begin(): Promise<boolean>;
  /** Resolves when nothing is in hand. */
  idle(): Promise<void>;
}

/**
 * Builds workers of which each takes the next piece as soon as its last has ended, so that a slow piece
 * holds up nothing else, and a workspace whose pieces are all slow no other workspace.
 */
export function createWorkers<Item extends WorkItem>(
  { atOnce, ofWorkspace, find, work }: LeasedQueue<Item>,
  failed: (error: unknown) => void,
): Workers {
  const inHand = new Map<string, { readonly workspace: number; readonly ended: Promise<void> }>();
  const ended = () => [...inHand.values()].map((each) => each.ended);
  const hasShare = (workspace: number) =>
    [...inHand.values()].filter((each) => each.workspace === workspace).length >= ofWorkspace;

  /** Gives whether it has begun: what is found may be in hand already, its lease being under way. */
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
      // What is due of these begins as soon as a piece of theirs has ended.
      await Promise.race([...ended(), sleep(REST_MS, undefined, { ref: false })]);
      return true;
    },
    async idle() {
      await Promise.all(ended());
    },
  };
}
