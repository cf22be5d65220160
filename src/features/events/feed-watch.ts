import { setTimeout as sleep } from "node:timers/promises";
import { onBehalfOfAll } from "../../db/connection-shares.ts";
import type { EntityManager } from "../../db/orm.ts";
import type { EventAnnouncer } from "./event-announcer.ts";
import { loadFeedEnds } from "./load-feed.ts";
import { createWaiter } from "./waiter.ts";

/** Watches the feeds of all workspaces with streams in this process. */
export interface FeedWatch {
  /** Wakes a stream when its workspace's feed may have grown. */
  subscribe(workspace: number): Subscription;
}

interface Subscription {
  /**
   * Resolves to true once the feed may have events after the position that the stream has read, or
   * to false after `ms` or when the signal aborts. One wait at a time.
   */
  wait(after: number, ms: number, signal?: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Poll interval for all feeds, because announcements can get lost. */
const LOOK_MS = 1_000;
/** Time for which announcements are collected after streams were woken. */
const PAUSE_MS = 10;

/** A stream, and the position to which it has read. */
interface Stream {
  readonly wake: () => void;
  after: number;
}

/**
 * Creates the watch of one process. An announcement wakes the streams of its workspaces. In addition, one statement
 * per second finds the feeds that have grown, regardless of the number of streams.
 */
export function createFeedWatch(
  em: EntityManager,
  announcer: Pick<EventAnnouncer, "listen">,
): FeedWatch {
  const watched = new Map<number, Set<Stream>>();
  const announced = new Set<number>();
  const { wake, wait } = createWaiter();
  let isRunning = false;
  let lookAtMs = 0;

  async function run(): Promise<void> {
    while (watched.size > 0) {
      await wait(Math.max(0, lookAtMs - performance.now()));
      for (const workspace of announced) wakeAll(watched.get(workspace) ?? []);
      announced.clear();
      if (performance.now() >= lookAtMs) await look();
      await sleep(PAUSE_MS);
    }
    isRunning = false;
  }

  async function look(): Promise<void> {
    lookAtMs = performance.now() + LOOK_MS;
    try {
      await wakeBehind(em, watched);
    } catch {
      // Each stream then gets the error when it reads, or continues.
      for (const streams of watched.values()) wakeAll(streams);
    }
  }

  announcer.listen((workspaces) => {
    if (workspaces === undefined) lookAtMs = 0;
    const found = (workspaces ?? []).filter((workspace) => watched.has(workspace));
    for (const workspace of found) announced.add(workspace);
    if (workspaces === undefined || found.length > 0) wake();
  });

  return {
    subscribe(workspace) {
      const waiter = createWaiter();
      const stream: Stream = { wake: waiter.wake, after: Infinity };
      const streams = watched.get(workspace) ?? new Set();
      streams.add(stream);
      watched.set(workspace, streams);
      if (!isRunning) {
        isRunning = true;
        void onBehalfOfAll(run);
      }
      return {
        wait(after, ms, signal) {
          stream.after = after;
          return waiter.wait(ms, signal);
        },
        close() {
          streams.delete(stream);
          if (streams.size === 0 && watched.get(workspace) === streams) watched.delete(workspace);
          if (watched.size === 0) wake();
        },
      };
    },
  };
}

/** Wakes the streams that have not read to the end of their feeds. */
async function wakeBehind(
  em: EntityManager,
  watched: ReadonlyMap<number, ReadonlySet<Stream>>,
): Promise<void> {
  const ends = await loadFeedEnds(em, [...watched.keys()]);
  for (const [workspace, end] of ends) {
    wakeAll([...(watched.get(workspace) ?? [])].filter(({ after }) => after < end));
  }
}

function wakeAll(streams: Iterable<Stream>): void {
  for (const { wake } of streams) wake();
}
