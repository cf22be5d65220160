import type { Reader } from "./change-feed.ts";

/**
 * Creates an estimate of the database's clock, which all replicas share. Call `read` regularly, because
 * the local clock drifts.
 */
export function createDatabaseClock() {
  // The offset is relative to a monotonic clock.
  let offsetMs = Date.now() - performance.now();
  return {
    /** Time in milliseconds since the epoch. Uses the local clock before the first `read`. */
    nowMs: () => performance.now() + offsetMs,
    /** Reads the database's clock, accurate to half of the round trip. */
    async read(reader: Reader): Promise<void> {
      const sentMs = performance.now();
      const { rows } = await reader.query<{ ms: number }>(
        "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms",
      );
      offsetMs = rows[0]!.ms - (sentMs + performance.now()) / 2;
    },
  };
}
