import type { EventSubscriber } from "@mikro-orm/core";
import type { Logger } from "pino";
import { onBehalfOfAll } from "../../db/connection-shares.ts";
import type { EntityManager } from "../../db/orm.ts";
import { Event } from "./event.entity.ts";

/** The channel that carries announcements; a payload is a list of workspace ids: `7,12,105`. */
export const EVENTS_CHANNEL = "shipments_events";
/**
 * How long workspaces are collected before they are announced, in milliseconds. Announcements are
 * not part of the transactions they are about, because PostgreSQL serializes the commits of
 * transactions that notify.
 */
const BATCH_MS = 20;
/** How long to wait after a failed announcement, in milliseconds. */
const RETRY_MS = 1_000;
/** How many workspaces one announcement names at most; a payload must be under 8000 bytes. */
const MAX_NAMED = 400;

/** Announces to all replicas which workspaces have new events. */
export interface EventAnnouncer {
  /** Sees every event that the ORM writes, and announces its workspace after the commit. */
  readonly subscriber: EventSubscriber<Event>;
  /** Announces a workspace whose events were committed without the ORM. */
  announce(workspace: number): void;
  /** Stops announcing; resolves when an announcement in flight has ended. */
  close(): Promise<void>;
}

/**
 * Announces, when the caller's transaction commits, that a workspace may have something to deliver
 * without a new event. For rare transactions: see `BATCH_MS`.
 */
export async function announceWorkspace(tx: EntityManager, workspace: number): Promise<void> {
  await tx.execute("select pg_notify(?, ?)", [EVENTS_CHANNEL, String(workspace)]);
}

/** Builds the announcer; register its `subscriber` with the ORM that writes events. */
export function createEventAnnouncer(options: {
  readonly em: EntityManager;
  readonly log: Logger;
}): EventAnnouncer {
  const { em, log } = options;
  const writtenBy = new WeakMap<object, Set<number>>();
  const pending = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let closed = false;

  function sendIn(ms: number): void {
    if (closed || pending.size === 0 || timer !== undefined) return;
    timer = onBehalfOfAll(() => setTimeout(() => (sending = sendAndReschedule()), ms));
  }

  /** The timer stays set while sending, so that one announcement is in flight at a time. */
  async function sendAndReschedule(): Promise<void> {
    const failure = await sendPending();
    if (failure !== undefined) log.warn({ err: failure }, "events could not be announced");
    timer = undefined;
    sendIn(failure === undefined ? BATCH_MS : RETRY_MS);
  }

  /** Gives the error if it fails; what was not sent is pending again. */
  async function sendPending(): Promise<unknown> {
    const workspaces = [...pending];
    pending.clear();
    while (workspaces.length > 0) {
      const named = workspaces.slice(0, MAX_NAMED);
      try {
        await notify(em, named);
      } catch (error) {
        for (const workspace of workspaces) pending.add(workspace);
        return error;
      }
      workspaces.splice(0, named.length);
    }
    return undefined;
  }

  return {
    subscriber: {
      getSubscribedEntities: () => [Event],
      afterCreate({ em: unit, entity }) {
        const workspaces = writtenBy.get(unit) ?? new Set();
        writtenBy.set(unit, workspaces.add(entity.workspace));
      },
      afterTransactionCommit({ em: unit }) {
        for (const workspace of writtenBy.get(unit) ?? []) pending.add(workspace);
        writtenBy.delete(unit);
        sendIn(BATCH_MS);
      },
    },
    announce(workspace) {
      pending.add(workspace);
      sendIn(BATCH_MS);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await sending;
    },
  };
}

/**
 * A timer inherits the async context of the transaction that set it. There MikroORM resolves an
 * entity manager to that of the transaction, which is committed by now; this fork is not resolved.
 */
async function notify(em: EntityManager, workspaces: readonly number[]): Promise<void> {
  const outside = em.fork({ disableContextResolution: true });
  await outside.execute("select pg_notify(?, ?)", [EVENTS_CHANNEL, workspaces.join(",")]);
}
