import type { Logger } from "pino";
import { DEFAULT_MAX_EVENT_DELAY_SECONDS, type Config } from "../config/config.ts";
import type { EntityManager } from "../db/orm.ts";
import { loadOldestTransaction, loadFeedDelay } from "../features/events/feed-delay.ts";

/** Watches whether a transaction keeps events from being shown. */
export interface FeedMonitor {
  /** Looks, and gives when to look again, in milliseconds. Never rejects. */
  look(): Promise<number>;
  /** How long the oldest event that cannot be shown has waited, in seconds, at the last look. */
  delaySeconds(): number;
  /** Why the service is not ready: events wait for longer than they may; else undefined. */
  stalledBecause(): string | undefined;
}

/** How often to look, in milliseconds. */
const LOOK_MS = 2_000;
/** A wait that is shorter is what bookings at the same time cause each other, in seconds. */
const MIN_SECONDS = 2;
/** How often a delay is logged while one transaction causes it, in milliseconds. */
const WARN_MS = 60_000;

/** Builds the monitor. */
export function createFeedMonitor(options: {
  readonly em: EntityManager;
  readonly log: Logger;
  /** Tells how long an event may wait before `stalledBecause` says so. */
  readonly config: Partial<Pick<Config, "maxEventDelaySeconds">>;
}): FeedMonitor {
  const { em, log, config } = options;
  const { maxEventDelaySeconds: maxDelaySeconds = DEFAULT_MAX_EVENT_DELAY_SECONDS } = config;
  let oldest: string | undefined;
  let delaySeconds = 0;
  let warnedMs = -Infinity;

  async function look(): Promise<void> {
    const found = await loadOldestTransaction(em);
    const isSame = found === oldest;
    oldest = found;
    // A transaction that was there at the last look too is long; only then does it cost a search.
    const waiting = isSame || delaySeconds > 0 ? await loadFeedDelay(em, found) : undefined;
    const delay = waiting !== undefined && waiting.seconds >= MIN_SECONDS ? waiting : undefined;
    delaySeconds = delay?.seconds ?? 0;
    if (delay === undefined || !isSame) warnedMs = -Infinity;
    if (delay !== undefined && performance.now() - warnedMs >= WARN_MS) {
      warnedMs = performance.now();
      log.warn(delay, "new events wait for a transaction to end");
    }
  }

  return {
    async look() {
      // While the database is away, the last figures stand; its absence is logged elsewhere.
      await look().catch((error: unknown) => log.debug({ err: error }, "feed not looked at"));
      return LOOK_MS;
    },
    delaySeconds: () => delaySeconds,
    stalledBecause() {
      const isStalled = maxDelaySeconds > 0 && delaySeconds > maxDelaySeconds;
      return isStalled ? "new events wait for a transaction to end" : undefined;
    },
  };
}
