import type { Logger } from "pino";
import type { Reader } from "../db/change-feed.ts";

/**
 * Checks whether the database accepts writes, and compares its clock with this process's clock, because
 * quotes, keys and leases expire by both clocks.
 */
export type DatabaseClock = ReturnType<typeof createDatabaseClock>;

/** Clock difference above which a warning is logged, in milliseconds. */
const LOGGED_MS = 2_000;
/** Clock difference above which the service is not ready, in milliseconds. */
const UNREADY_MS = 30_000;
/** Maximum round trip of a reading, in milliseconds. Slower readings are inaccurate and ignored. */
const MAX_ROUND_TRIP_MS = 1_000;

const POLL = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms,
  current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

export function createDatabaseClock(
  log: Pick<Logger, "warn" | "info">,
  clockMs: () => number = Date.now,
  nowMs: () => number = () => performance.now(),
) {
  let aheadMs = 0;
  const aheadSeconds = () => Math.round(aheadMs) / 1_000;
  let differs = false;
  let isReadOnly = false;
  return {
    /** Reads the database's time and whether the database is read-only. */
    async poll(reader: Reader): Promise<void> {
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
      // The lower threshold after a warning avoids a log line for each reading if the difference is near the limit.
      differs = Math.abs(aheadMs) > (differed ? LOGGED_MS / 2 : LOGGED_MS);
      if (differs === differed) return;
      const seconds = aheadSeconds();
      if (differed) log.info({ seconds }, "the clock agrees with the database's again");
      else log.warn({ seconds }, "the clock differs from the database's: synchronize both with NTP");
    },
    /** Seconds by which this process's clock is ahead of the database's clock. 0 before the first reading. */
    aheadSeconds,
    /**
     * Returns the reason why the service is not ready: the database is read-only or the clocks differ by
     * too much. `undefined` if it is ready.
     */
    offReason(): string | undefined {
      if (isReadOnly) return "the database is read-only";
      return Math.abs(aheadMs) >= UNREADY_MS ? "the clock differs from the database's" : undefined;
    },
  };
}
