import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { setServingSettings } from "./connection-settings.ts";
import type { EntityManager } from "./orm.ts";
import { createClient } from "./primary-client.ts";
import { runStatement } from "./statement.ts";

/** Notification channel for changes of keys and tariffs. */
export const CHANGES_CHANNEL = "shipments_changes";

/** `application_name` of the listening connection that each process keeps open. */
export const CHANGES_APPLICATION = "shipments changes";

export type ChangeFeed = ReturnType<typeof followChanges>;

/** Sends queries to the database. Queries of one tick share a round trip and a transaction. */
export interface Reader {
  query<Row extends object>(sql: string, values?: unknown[]): Promise<{ readonly rows: Row[] }>;
}

export interface FollowOptions {
  readonly databaseUrl: string;
  /**
   * Called at the start, on every notification on `CHANGES_CHANNEL`, and every `pollMs` in case a
   * notification was lost.
   */
  readonly poll: (reader: Reader) => Promise<void>;
  /** Called after every connect, because changes may have been missed. */
  readonly reconnected: () => void;
  /** Handlers of other channels, by channel name. Each receives the payload of a notification. */
  readonly others?: Readonly<Record<string, (payload: string) => void>>;
  readonly pollMs?: number | undefined;
  readonly log: Logger;
}

/** Default polling interval, in milliseconds. Changes must apply within one second, even if a notification is lost. */
const POLL_MS = 500;
/** Query timeout in milliseconds, after which the connection counts as broken. */
const QUERY_TIMEOUT_MS = 2_000;
const RECONNECT_MS = 200;

/** Follows changes announced by other processes, on a separate connection. Logs failures and reconnects. */
export function followChanges(options: FollowOptions) {
  const closing = new AbortController();
  const ended = followUntil(closing.signal, options);
  return {
    async close(): Promise<void> {
      closing.abort();
      await ended;
    },
  };
}

async function followUntil(closed: AbortSignal, options: FollowOptions): Promise<void> {
  while (!closed.aborted) {
    try {
      await followOneConnection(closed, options);
    } catch (error) {
      if (!closed.aborted) options.log.warn({ err: error }, "change feed lost its connection");
    }
    await sleep(RECONNECT_MS, undefined, { signal: closed }).catch(() => undefined);
  }
}

async function followOneConnection(closed: AbortSignal, options: FollowOptions): Promise<void> {
  const { databaseUrl, poll, reconnected, others = {}, pollMs = POLL_MS } = options;
  const client = createClient(databaseUrl, {
    connectionTimeoutMillis: QUERY_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: CHANGES_APPLICATION,
  });
  const reader: Reader = {
    query: async (sql, values) => ({ rows: await client.send(sql, values) }),
  };
  let broken: Error | undefined;
  /** Aborting this controller ends the wait for the next poll. */
  let wake = new AbortController();
  client.on("notification", ({ channel, payload }) => {
    if (channel === CHANGES_CHANNEL) wake.abort();
    else others[channel]?.(payload ?? "");
  });
  client.on("error", (error) => {
    broken = error;
    wake.abort();
  });
  const stop = () => wake.abort();
  closed.addEventListener("abort", stop);
  try {
    await client.connect();
    await setServingSettings(client);
    for (const channel of [CHANGES_CHANNEL, ...Object.keys(others)]) {
      await client.query(`listen ${channel}`);
    }
    reconnected();
    while (!closed.aborted) {
      // The controller is replaced before the poll, so that a notification during the poll ends the next wait.
      wake = new AbortController();
      await poll(reader);
      if (broken === undefined && !closed.aborted) {
        await sleep(pollMs, undefined, { signal: wake.signal }).catch(() => undefined);
      }
      if (broken !== undefined) throw broken;
    }
  } finally {
    closed.removeEventListener("abort", stop);
    await client.end().catch(() => undefined);
  }
}

/** Announces a change of keys or tariffs to all processes when the caller's transaction commits. */
export async function announceChange(em: EntityManager): Promise<void> {
  await runStatement(em, "select pg_notify($1, '')", [CHANGES_CHANNEL]);
}
