import type { Logger } from "pino";
import { followChanges } from "../../db/change-feed.ts";
import { EVENTS_CHANNEL } from "./event-announcer.ts";

/** Waits for new events of one workspace. */
export interface EventSubscription {
  /**
   * Resolves to true once an announcement has arrived since the last wait; to false after `ms` or
   * when the signal aborts.
   */
  wait(ms: number, signal: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Receives the announcements of all replicas, this one included. */
export interface EventSubscriptions {
  /**
   * Connects. Before that, and while the database is away, nothing arrives; after a reconnect every
   * subscription is woken.
   */
  open(): void;
  subscribe(workspaceId: number): EventSubscription;
  /**
   * Calls back with the workspaces of every announcement, and with undefined after a reconnect, when
   * announcements may have been missed.
   */
  listen(heard: Listener): void;
  close(): Promise<void>;
}

type Listener = (workspaces: readonly number[] | undefined) => void;

/** Builds the subscriptions of one process, which share one connection. */
export function createEventSubscriptions(options: {
  readonly databaseUrl: string;
  readonly log: Logger;
}): EventSubscriptions {
  const subscribers = new Map<number, Set<() => void>>();
  const listeners: Listener[] = [];
  let feed: ReturnType<typeof followChanges> | undefined;

  function wake(workspaceId: number): void {
    for (const wakeOne of subscribers.get(workspaceId) ?? []) wakeOne();
  }

  function hear(workspaces: readonly number[] | undefined): void {
    (workspaces ?? [...subscribers.keys()]).forEach(wake);
    for (const listener of listeners) listener(workspaces);
  }

  return {
    open() {
      feed = followChanges({
        ...options,
        channel: EVENTS_CHANNEL,
        reconnected: () => hear(undefined),
        heard: (payload) => hear(payload.split(",").map(Number)),
        look: async (client) => void (await client.query("select")),
      });
    },
    subscribe(workspaceId) {
      const { wake: wakeOne, wait } = createWaiter();
      const ofWorkspace = subscribers.get(workspaceId) ?? new Set();
      subscribers.set(workspaceId, ofWorkspace.add(wakeOne));
      return {
        wait,
        close() {
          ofWorkspace.delete(wakeOne);
          if (ofWorkspace.size === 0 && subscribers.get(workspaceId) === ofWorkspace) {
            subscribers.delete(workspaceId);
          }
        },
      };
    },
    listen(heard) {
      listeners.push(heard);
    },
    async close() {
      await feed?.close();
    },
  };
}

/** A flag that `wake` sets, and that `wait` waits for and resets. */
function createWaiter(): { wake: () => void; wait: EventSubscription["wait"] } {
  let woken = false;
  let stopWaiting: (() => void) | undefined;
  return {
    wake() {
      woken = true;
      stopWaiting?.();
    },
    async wait(ms, signal) {
      if (!woken) await sleepUntil(ms, signal, (stop) => (stopWaiting = stop));
      const result = woken;
      woken = false;
      return result;
    },
  };
}

/** Resolves after `ms`, when the signal aborts, or when what `onStart` is given is called. */
function sleepUntil(
  ms: number,
  signal: AbortSignal,
  onStart: (stop: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(stop, ms);
    signal.addEventListener("abort", stop);
    onStart(stop);
  });
}
