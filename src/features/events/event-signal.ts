import type { EventSubscriber } from "@mikro-orm/core";
import type { Logger } from "pino";
import type { EntityManager } from "../../db/orm.ts";
import { createEventAnnouncer } from "./event-announcer.ts";
import type { Event } from "./event.entity.ts";
import { createFeedWatch, type FeedWatch } from "./feed-watch.ts";

/** Tells whoever sends events, in whatever replica, that a workspace may have new ones. */
export interface EventSignal extends Pick<FeedWatch, "subscribe"> {
  /** Sees every event that the ORM writes, and announces its workspace after the commit. */
  readonly subscriber: EventSubscriber<Event>;
  /** Announces a workspace whose events were committed without the ORM. */
  announce(workspace: number): void;
  /**
   * Takes the payload of an announcement, of this replica or another; undefined after a reconnect,
   * when announcements may have been missed.
   */
  hear(payload: string | undefined): void;
  /** Calls back with the workspaces of every announcement, and with undefined after a reconnect. */
  listen(heard: Listener): void;
  /** Stops announcing; resolves when an announcement in flight has ended. */
  close(): Promise<void>;
}

type Listener = (workspaces: readonly number[] | undefined) => void;

/** Builds the signal of one process; nothing is opened yet. */
export function createEventSignal(options: {
  readonly em: EntityManager;
  readonly log: Logger;
}): EventSignal {
  const announcer = createEventAnnouncer(options);
  const feeds = createFeedWatch(options.em);
  const listeners: Listener[] = [feeds.look];
  return {
    ...announcer,
    subscribe: feeds.subscribe,
    hear(payload) {
      const workspaces = payload?.split(",").map(Number);
      for (const listener of listeners) listener(workspaces);
    },
    listen(heard) {
      listeners.push(heard);
    },
  };
}
