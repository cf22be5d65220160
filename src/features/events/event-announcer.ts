import type { Logger } from "pino";
import { onBehalfOfAll } from "../../db/connection-shares.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** PostgreSQL channel for announcements. A payload is a list of workspace ids, such as `7,12,105`. */
export const EVENTS_CHANNEL = "shipments_events";
/**
 * Minimum time between announcements, in milliseconds. Workspaces are collected during this time. Announcements are not
 * part of the transactions that cause them, because PostgreSQL serializes the commits of transactions that notify.
 */
const BATCH_MS = 20;
const RETRY_MS = 1_000;
/** Maximum number of workspaces in an announcement. A payload must be shorter than 8,000 bytes. */
const MAX_NAMED = 400;

/** Called with the workspaces of an announcement, or with `undefined` for all workspaces after a reconnect. */
export type AnnouncementListener = (workspaces: readonly number[] | undefined) => void;

const NOTIFY = "select pg_notify($1, $2)";

/**
 * Announces a workspace's new events or due deliveries when the caller's transaction commits. Use
 * it only for rare transactions (see `BATCH_MS`).
 */
export async function announceWorkspace(tx: EntityManager, workspace: number): Promise<void> {
  await runStatement(tx, NOTIFY, [EVENTS_CHANNEL, String(workspace)]);
}

/** Sends announcements of new events to all processes, including this one. */
export type EventAnnouncer = ReturnType<typeof createEventAnnouncer>;

export function createEventAnnouncer(em: EntityManager, log: Logger) {
  const { announce, close } = createBatches(em, log);
  const listeners: AnnouncementListener[] = [];
  return {
    announce,
    close,
    /**
     * Handles an announcement from any process.
     *
     * @param payload `undefined` after a reconnect, when announcements may have been missed
     */
    onNotification(payload: string | undefined): void {
      const workspaces = payload?.split(",").map(Number);
      for (const listener of listeners) listener(workspaces);
    },
    listen(listener: AnnouncementListener): void {
      listeners.push(listener);
    },
  };
}

/** Creates batches of workspaces that are announced together. */
function createBatches(em: EntityManager, log: Logger) {
  const pending = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  let lastSentMs = -Infinity;
  let sending: Promise<void> | undefined;
  let closed = false;

  function sendIn(ms: number): void {
    if (closed || pending.size === 0 || timer !== undefined) return;
    timer = onBehalfOfAll(() => setTimeout(() => (sending = sendPending()), ms));
  }

  /** Sends the pending announcement. The timer stays set, so that only one announcement is in flight. */
  async function sendPending(): Promise<void> {
    let waitMs = BATCH_MS;
    lastSentMs = performance.now();
    const workspaces = [...pending];
    pending.clear();
    try {
      for (; workspaces.length > 0; workspaces.splice(0, MAX_NAMED)) {
        const named = workspaces.slice(0, MAX_NAMED);
        await runStatement(em, NOTIFY, [EVENTS_CHANNEL, named.join(",")]);
      }
    } catch (error) {
      for (const workspace of workspaces) pending.add(workspace);
      log.warn({ err: error }, "events could not be announced");
      waitMs = RETRY_MS;
    }
    timer = undefined;
    sendIn(waitMs);
  }

  return {
    /** Queues the announcement of a workspace. Its events must be committed. */
    announce(workspace: number): void {
      pending.add(workspace);
      sendIn(Math.max(0, lastSentMs + BATCH_MS - performance.now()));
    },
    /** Stops announcing. Waits for an announcement in flight. */
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      await sending;
    },
  };
}
