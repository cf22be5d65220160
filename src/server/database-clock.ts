import type { Logger } from "pino";
import type { Reader } from "../db/change-feed.ts";

/**
 * Watches whether the database takes writes, and compares the clock of this process with its: quotes, keys and leases
 * expire by both.
 */
export interface DatabaseClock {
  /** Asks the database for its time and whether it is read-only. */
  poll(reader: Reader): Promise<void>;
  /** Difference to the database's clock in seconds, positive if ahead. 0 before the first reading. */
  aheadSeconds(): number;
  /** Why the service is not ready: the database is read-only, or the clocks differ by too much; else undefined. */
  wrongBecause(): string | undefined;
}

/** Difference that is logged, in milliseconds. */
const SAID_MS = 2_000;
/** Difference at which the service is not ready. */
const UNREADY_MS = 30_000;
/** Slower readings are ignored as inaccurate. */
const MAX_ROUND_TRIP_MS = 1_000;

const POLL = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms,
  current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

/** Builds what watches the database. */
export function createDatabaseClock(
  log: Pick<Logger, "warn" | "info">,
  clockMs: () => number = Date.now,
  nowMs: () => number = () => performance.now(),
): DatabaseClock {
  let aheadMs = 0;
  const aheadSeconds = () => Math.round(aheadMs) / 1_000;
  let differs = false;
  let isReadOnly = false;
  return {
    async poll(reader) {
      const sentMs = nowMs();
      const { rows } = await reader.query<{ ms: number; isReadOnly: boolean }>(POLL);
      const wasReadOnly = isReadOnly;
      ({ isReadOnly } = rows[0]!);
      if (isReadOnly && !wasReadOnly) log.warn({}, "the database is read-only");
      if (wasReadOnly && !isReadOnly) log.info({}, "the database accepts writes again");
      const roundTripMs = nowMs() - sentMs;
      if (roundTripMs > MAX_ROUND_TRIP_MS) return;
      const differed = differs;
      aheadMs = clockMs() - roundTripMs / 2 - rows[0]!.ms;
      // Hysteresis, so that a difference near the limit is not logged at each reading.
      differs = Math.abs(aheadMs) > (differed ? SAID_MS / 2 : SAID_MS);
      if (differs === differed) return;
      const seconds = aheadSeconds();
      if (differed) log.info({ seconds }, "the clock agrees with the database's again");
      else log.warn({ seconds }, "the clock differs from the database's: keep both by NTP");
    },
    aheadSeconds,
    wrongBecause() {
      if (isReadOnly) return "its database is read-only";
      return Math.abs(aheadMs) >= UNREADY_MS ? "off its database's clock" : undefined;
    },
  };
}
