import type { EventSubscriber } from "@mikro-orm/core";
import type { Logger } from "pino";
import { followChanges } from "../../db/change-feed.ts";
import type { EntityManager } from "../../db/orm.ts";
import { Event } from "./event.entity.ts";

/** The channel on which processes tell each other in which workspaces something happened. */
const EVENTS_CHANNEL = "shipments_events";
/**
 * For how long announcements are gathered, in milliseconds. They are sent apart from the
 * transactions that they tell of, since PostgreSQL commits transactions that notify one by one.
 */
const GATHER_MS = 20;
/** How many workspaces one announcement names at most; a notification holds less than 8000 bytes. */
const MAX_NAMED = 400;

/** Listens for what happens in one workspace. */
export interface Ear {
  /** Resolves once something was heard since the last time, or after `ms`, or when told to stop. */
  hear(ms: number, signal: AbortSignal): Promise<"heard" | "silence">;
  close(): void;
}

/** Wakes those who follow a workspace's events when there may be new ones, in any process. */
export interface EventSignal {
  /** Announces, once it has committed, what any unit of work of the ORM wrote. */
  readonly subscriber: EventSubscriber<Event>;
  /** Begins to hear of other processes; before, and while the database is away, nothing is heard. */
  open(): void;
  listen(workspaceId: number): Ear;
  close(): Promise<void>;
}

/** Builds the signal; nothing is opened yet. */
export function createEventSignal(options: {
  readonly em: EntityManager;
  readonly databaseUrl: string;
  readonly log: Logger;
}): EventSignal {
  const { em, databaseUrl, log } = options;
  const written = new WeakMap<object, Set<number>>();
  const toAnnounce = new Set<number>();
  const ears = new Map<number, Set<() => void>>();
  let feed: ReturnType<typeof followChanges> | undefined;
  let gathering: NodeJS.Timeout | undefined;

  function announceSoon(workspaces: Iterable<number>): void {
    for (const workspace of workspaces) toAnnounce.add(workspace);
    gathering ??= setTimeout(() => void announce(), GATHER_MS);
  }

  async function announce(): Promise<void> {
    gathering = undefined;
    const named = [...toAnnounce];
    toAnnounce.clear();
    try {
      for (let i = 0; i < named.length; i += MAX_NAMED) {
        const payload = named.slice(i, i + MAX_NAMED).join(",");
        await em.execute("select pg_notify(?, ?)", [EVENTS_CHANNEL, payload]);
      }
    } catch (error) {
      // Whoever follows events looks for them from time to time, announced or not.
      log.warn({ err: error }, "events could not be announced");
    }
  }

  function wake(workspace: number): void {
    for (const heard of ears.get(workspace) ?? []) heard();
  }

  return {
    subscriber: {
      getSubscribedEntities: () => [Event],
      afterCreate({ em: unit, entity }) {
        const workspaces = written.get(unit) ?? new Set();
        written.set(unit, workspaces.add(entity.workspace));
      },
      afterTransactionCommit({ em: unit }) {
        announceSoon(written.get(unit) ?? []);
        written.delete(unit);
      },
    },
    open() {
      feed = followChanges({
        databaseUrl,
        log,
        channel: EVENTS_CHANNEL,
        reconnected: () => ears.keys().forEach(wake),
        heard: (payload) => payload.split(",").map(Number).forEach(wake),
        look: async (client) => void (await client.query("select")),
      });
    },
    listen(workspaceId) {
      let news = false;
      let wakeUp: (() => void) | undefined;
      const heard = () => {
        news = true;
        wakeUp?.();
      };
      const others = ears.get(workspaceId) ?? new Set();
      ears.set(workspaceId, others.add(heard));
      return {
        async hear(ms, signal) {
          if (!news) await pause(ms, signal, (wake) => (wakeUp = wake));
          const result = news ? "heard" : "silence";
          news = false;
          return result;
        },
        close() {
          others.delete(heard);
          if (others.size === 0 && ears.get(workspaceId) === others) ears.delete(workspaceId);
        },
      };
    },
    async close() {
      clearTimeout(gathering);
      await feed?.close();
    },
  };
}

/** Waits until the time is over, the signal aborts, or somebody calls what `onWake` is given. */
function pause(ms: number, signal: AbortSignal, onWake: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    onWake(done);
  });
}
