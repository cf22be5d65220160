import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { acquireEmbeddedPostgres, type Lease } from "./embedded-postgres.ts";

/** Delay between restarts, in milliseconds. */
const RETRY_MS = 1_000;

/**
 * Leases the embedded PostgreSQL of a data folder while a service is running. If PostgreSQL is killed,
 * restarts it on the same port, so that `url` stays valid until `release`.
 */
export async function superviseEmbeddedPostgres(dataDir: string, log: Logger): Promise<Pick<Lease, "url" | "release">> {
  let lease = await acquireEmbeddedPostgres(dataDir);
  const { url } = lease;
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = once(signal, "abort");
  const watching = watch();

  async function watch(): Promise<void> {
    for (;;) {
      await Promise.race([lease.lost, stopped]);
      if (signal.aborted) return;
      log.warn("the embedded database has exited; restarting it");
      try {
        lease = await acquireAgain(dataDir, url);
        log.info("the embedded database is back");
      } catch (error) {
        log.error({ err: error }, "the embedded database is down");
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async function release(): Promise<void> {
    stopping.abort();
    await watching;
    await lease.release();
  }

  return { url, release };
}

async function acquireAgain(dataDir: string, url: string): Promise<Lease> {
  const lease = await acquireEmbeddedPostgres(dataDir, { port: Number(new URL(url).port) });
  if (lease.url === url) return lease;
  await lease.release();
  throw new Error(`another process has started it at ${new URL(lease.url).host}`);
}
