import type { EventSubscriber } from "@mikro-orm/core";
import type { Logger } from "pino";
import type { EntityManager } from "../../db/orm.ts";
import { createEventAnnouncer } from "./event-announcer.ts";
import type { Event } from "./event.entity.ts";
import { createEventSubscriptions, type EventSubscriptions } from "./event-subscriptions.ts";

/** Tells streams, in whatever replica they run, that a workspace may have new events. */
export interface EventSignal extends EventSubscriptions {
  /** Sees every event that the ORM writes, and announces its workspace after the commit. */
  readonly subscriber: EventSubscriber<Event>;
  /** Announces a workspace whose events were committed without the ORM. */
  announce(workspace: number): void;
  /** Stops announcing; resolves when an announcement in flight has ended. */
  close(): Promise<void>;
}

/** Builds the signal of one process; nothing is opened yet. */
export function createEventSignal(options: {
  readonly em: EntityManager;
  readonly log: Logger;
}): EventSignal {
  const announcer = createEventAnnouncer(options);
  const subscriptions = createEventSubscriptions();
  return {
    ...subscriptions,
    subscriber: announcer.subscriber,
    announce: announcer.announce,
    close: announcer.close,
  };
}
