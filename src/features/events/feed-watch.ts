import { setTimeout as sleep } from "node:timers/promises";
import { onBehalfOfAll } from "../../db/connection-shares.ts";
import type { EntityManager } from "../../db/orm.ts";
import type { EventAnnouncer } from "./event-announcer.ts";
import { loadFeedEnds } from "./load-feed.ts";
import { createWaiter, type Waiter } from "./waiter.ts";

/** Watches the feeds of all workspaces that this process has streams of. */
export interface FeedWatch {
  /** Tells a stream when its workspace's feed may have grown, which ends the waiter's wait. */
  subscribe(workspace: number): Pick<Waiter, "wait"> & { close(): void };
}

/**
 * Bounds on the wait between two looks, in milliseconds. It starts short again after an announcement,
 * because an event becomes readable only when all earlier transactions have ended, and doubles while
 * nothing comes.
 */
const SHORTEST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 1_000;

/** The streams of one workspace, and where its feed ended when it was last looked at. */
interface Watched {
  readonly wakes: Set<() => void>;
  end: string | undefined;
  /** Until when each look includes it, on the clock of `performance.now()`. */
  isHotUntilMs: number;
}

/**
 * Builds the watch of one process. However many streams there are, it costs one statement a second,
 * and some after announcements, which look at the workspaces announced.
 */
export function createFeedWatch(
  em: EntityManager,
  announcer: Pick<EventAnnouncer, "listen">,
): FeedWatch {
  const watched = new Map<number, Watched>();
  const { wake, wait } = createWaiter();
  let isRunning = false;
  let lookAtAllMs = 0;
  let waitMs = SHORTEST_WAIT_MS;

  async function run(): Promise<void> {
    while (watched.size > 0) {
      const isAnnounced = await wait(
        Math.max(0, Math.min(waitMs, lookAtAllMs - performance.now())),
      );
      waitMs = isAnnounced ? SHORTEST_WAIT_MS : Math.min(2 * waitMs, LONGEST_WAIT_MS);
      try {
        if (await look()) waitMs = SHORTEST_WAIT_MS;
      } catch {
        // Each stream then meets the fault itself, or reads on.
        for (const { wakes } of watched.values()) wakeAll(wakes);
      }
      await sleep(SHORTEST_WAIT_MS);
    }
    isRunning = false;
  }

  /** Looks at the feeds that are due; says whether any has grown. */
  async function look(): Promise<boolean> {
    const nowMs = performance.now();
    const isDue = nowMs >= lookAtAllMs;
    if (isDue) lookAtAllMs = nowMs + LONGEST_WAIT_MS;
    const looked = [...watched].filter(([, { isHotUntilMs }]) => isDue || isHotUntilMs > nowMs);
    return looked.length > 0 && wakeGrown(em, looked);
  }

  announcer.listen((workspaces) => {
    if (workspaces === undefined) lookAtAllMs = 0;
    const isHotUntilMs = performance.now() + LONGEST_WAIT_MS;
    const found = (workspaces ?? []).flatMap((workspace) => watched.get(workspace) ?? []);
    for (const feed of found) feed.isHotUntilMs = isHotUntilMs;
    if (workspaces === undefined || found.length > 0) wake();
  });

  return {
    subscribe(workspace) {
      const stream = createWaiter();
      const feed = watched.get(workspace) ?? { wakes: new Set(), end: undefined, isHotUntilMs: 0 };
      feed.wakes.add(stream.wake);
      watched.set(workspace, feed);
      if (!isRunning) {
        isRunning = true;
        void onBehalfOfAll(run);
      }
      return {
        wait: stream.wait,
        close() {
          feed.wakes.delete(stream.wake);
          if (feed.wakes.size === 0 && watched.get(workspace) === feed) watched.delete(workspace);
          if (watched.size === 0) wake();
        },
      };
    },
  };
}

/** Wakes the streams of feeds that have grown; says whether there were any. */
async function wakeGrown(
  em: EntityManager,
  looked: readonly (readonly [workspace: number, feed: Watched])[],
): Promise<boolean> {
  const workspaces = looked.map(([workspace]) => workspace);
  const ends = await loadFeedEnds(em, workspaces);
  const grown = looked.filter(([workspace, { end }]) => ends.get(workspace) !== end);
  for (const [workspace, feed] of grown) {
    feed.end = ends.get(workspace);
    wakeAll(feed.wakes);
  }
  return grown.length > 0;
}

function wakeAll(wakes: Iterable<() => void>): void {
  for (const wake of wakes) wake();
}
