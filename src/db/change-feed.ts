import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";

/** The channel on which processes tell each other that keys or the tariff changed. */
export const CHANGES_CHANNEL = "shipments_changes";

/** Follows changes that other processes make. */
export interface ChangeFeed {
  /** Ends the connection; nothing is called afterwards. */
  close(): Promise<void>;
}

/**
 * How often to look, notified or not, in milliseconds: half of what a change may take to be
 * noticed.
 */
const POLL_MS = 500;
/** How long one look may take, in milliseconds, before the connection counts as broken. */
const QUERY_MS = 2_000;
/** How long to wait before connecting again, in milliseconds. */
const RECONNECT_MS = 200;

/**
 * Calls `heard` with what other processes send on the channel, and `look` with a connection of its own: at once, whenever another process sends a
 * notification, and every half second besides, in case a notification was lost. `reconnected` is
 * called whenever a connection has been made anew, since changes may have passed unseen. Failures
 * are logged and tried again; they never end the feed.
 */
export function followChanges(options: {
  readonly databaseUrl: string;
  readonly look: (client: pg.Client) => Promise<void>;
  readonly reconnected: () => void;
  /** The channel to listen on; that of keys and tariffs if none is named. */
  readonly channel?: string;
  readonly heard?: (payload: string) => void;
  readonly log: Logger;
}): ChangeFeed {
  const { databaseUrl, look, reconnected, heard, log, channel = CHANGES_CHANNEL } = options;
  const stopping = new AbortController();
  const ended = follow();

  async function follow(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await followOneConnection();
      } catch (error) {
        if (!stopping.signal.aborted) log.warn({ err: error }, "change feed lost its connection");
      }
      await pause(RECONNECT_MS, stopping.signal);
    }
  }

  async function followOneConnection(): Promise<void> {
    const client = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: QUERY_MS,
      query_timeout: QUERY_MS,
      application_name: "shipments changes",
    });
    const wake = { now: () => undefined as void };
    let broken: Error | undefined;
    client.on("notification", ({ payload }) => {
      heard?.(payload ?? "");
      wake.now();
    });
    client.on("error", (error) => {
      broken = error;
      wake.now();
    });
    const stop = () => wake.now();
    stopping.signal.addEventListener("abort", stop);
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
      reconnected();
      while (!stopping.signal.aborted) {
        // Begin to listen for the next wake-up before looking, so that none is lost in between.
        const woken = new Promise<void>((resolve) => (wake.now = resolve));
        await look(client);
        await Promise.race([woken, sleep(POLL_MS, stopping.signal)]);
        if (broken !== undefined) throw broken;
      }
    } finally {
      stopping.signal.removeEventListener("abort", stop);
      await client.end().catch(() => undefined);
    }
  }

  return {
    async close() {
      stopping.abort();
      await ended;
    },
  };
}

/** Waits, but no longer than until the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
