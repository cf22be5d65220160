import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { holdEmbeddedPostgres } from "./embedded-postgres.ts";

/** An embedded PostgreSQL that is started again whenever it ends without being told to. */
export interface KeptPostgres {
  readonly url: string;
  /** Lets go of it for good; it stops if nobody else holds it. */
  release(): Promise<void>;
}

/** How often to look whether it still runs, in milliseconds. */
const LOOK_MS = 500;

/**
 * Holds the embedded PostgreSQL of a data folder, as `holdEmbeddedPostgres` does, for a process
 * that is to outlive it: when somebody kills it, it is started again on the port it had, so that
 * `url` stays good.
 */
export async function keepEmbeddedPostgres(dataDir: string, log: Logger): Promise<KeptPostgres> {
  const stopping = new AbortController();
  let held = await holdEmbeddedPostgres(dataDir);
  const { url } = held;
  const watching = watch();

  async function watch(): Promise<void> {
    while (await pause(stopping.signal)) {
      if (held.isUp()) continue;
      log.warn("the embedded database has ended; starting it again");
      await hold().catch((error: unknown) => log.error({ err: error }, "the database is down"));
    }
  }

  async function hold(): Promise<void> {
    await held.release();
    held = await holdEmbeddedPostgres(dataDir);
    if (held.url !== url) throw new Error("its port was taken meanwhile; restart the service");
    log.info("the embedded database is back");
  }

  return {
    url,
    async release() {
      stopping.abort();
      await watching;
      await held.release();
    },
  };
}

/** Waits; false when there is nothing more to wait for. */
async function pause(signal: AbortSignal): Promise<boolean> {
  await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}
