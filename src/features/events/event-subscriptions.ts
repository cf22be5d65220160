import { createWaiter } from "./waiter.ts";

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
   * Takes the payload of an announcement, or undefined after a reconnect, when announcements may
   * have been missed: then every subscription is woken.
   */
  hear(payload: string | undefined): void;
  subscribe(workspaceId: number): EventSubscription;
  /**
   * Calls back with the workspaces of every announcement, and with undefined after a reconnect, when
   * announcements may have been missed.
   */
  listen(heard: Listener): void;
}

type Listener = (workspaces: readonly number[] | undefined) => void;

/** Builds the subscriptions of one process. */
export function createEventSubscriptions(): EventSubscriptions {
  const subscribers = new Map<number, Set<() => void>>();
  const listeners: Listener[] = [];

  function wake(workspaceId: number): void {
    for (const wakeOne of subscribers.get(workspaceId) ?? []) wakeOne();
  }

  return {
    hear(payload) {
      const workspaces = payload?.split(",").map(Number);
      (workspaces ?? [...subscribers.keys()]).forEach(wake);
      for (const listener of listeners) listener(workspaces);
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
  };
}
