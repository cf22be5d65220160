import { setTimeout as sleep } from "node:timers/promises";
import { onBehalfOfAll } from "../../db/connection-shares.ts";
import type { EntityManager } from "../../db/orm.ts";
import type { EventAnnouncer } from "./event-announcer.ts";
import { loadFeedEnds } from "./load-feed.ts";
import { createWaiter } from "../../db/waiter.ts";

/** Watches the event feeds of the workspaces that have streams in this process. */
export interface FeedWatch {
  subscribe(workspace: number): Subscription;
}

interface Subscription {
  /**
   * Resolves to true once the feed may have events after `after`, the position that the stream has read. Resolves to
   * false after `ms` or when the signal aborts. Only one wait at a time is allowed.
   */
  wait(after: number, ms: number, signal?: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Poll interval for all feeds in milliseconds. Polls are needed because announcements can get lost. */
const POLL_MS = 1_000;
/** Time in milliseconds for which announcements are collected after streams were notified. */
const PAUSE_MS = 10;

/** A stream and the position up to which it has read. */
interface Stream {
  readonly notify: () => void;
  after: number;
}

/**
 * Creates the watch of one process. An announcement notifies the streams of its workspaces. In addition, one
 * statement per second finds all feeds that have grown, regardless of the number of streams.
 */
export function createFeedWatch(em: EntityManager, announcer: Pick<EventAnnouncer, "listen">): FeedWatch {
  const watched = new Map<number, Set<Stream>>();
  const announced = new Set<number>();
  const { notify, wait } = createWaiter();
  let isRunning = false;
  let pollAtMs = 0;

  async function run(): Promise<void> {
    while (watched.size > 0) {
      await wait(Math.max(0, pollAtMs - performance.now()));
      for (const workspace of announced) notifyAll(watched.get(workspace) ?? []);
      announced.clear();
      if (performance.now() >= pollAtMs) await poll();
      await sleep(PAUSE_MS);
    }
    isRunning = false;
  }

  async function poll(): Promise<void> {
    pollAtMs = performance.now() + POLL_MS;
    try {
      await notifyBehind(em, watched);
    } catch {
      // Notify all streams: each then gets the error when it reads, or continues if the database responds again.
      for (const streams of watched.values()) notifyAll(streams);
    }
  }

  announcer.listen((workspaces) => {
    if (workspaces === undefined) pollAtMs = 0;
    const found = (workspaces ?? []).filter((workspace) => watched.has(workspace));
    for (const workspace of found) announced.add(workspace);
    if (workspaces === undefined || found.length > 0) notify();
  });

  return {
    subscribe(workspace) {
      const waiter = createWaiter();
      const stream: Stream = { notify: waiter.notify, after: Infinity };
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
          if (watched.size === 0) notify();
        },
      };
    },
  };
}

/** Notifies the streams that have not read their whole feed. */
async function notifyBehind(em: EntityManager, watched: ReadonlyMap<number, ReadonlySet<Stream>>): Promise<void> {
  const ends = await loadFeedEnds(em, [...watched.keys()]);
  for (const [workspace, end] of ends) {
    notifyAll([...(watched.get(workspace) ?? [])].filter(({ after }) => after < end));
  }
}

function notifyAll(streams: Iterable<Stream>): void {
  for (const { notify } of streams) notify();
}
