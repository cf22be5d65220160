import type { Reader } from "./change-feed.ts";

/**
 * Builds the database's clock, which is the same for every replica, as far as this process knows it; read
 * it regularly, since this process's own runs at another pace.
 */
export function createDatabaseClock() {
  // Relative to a clock that nobody sets.
  let offsetMs = Date.now() - performance.now();
  return {
    /** The time in milliseconds since the epoch. Before the first `read`, that of this process. */
    nowMs: () => performance.now() + offsetMs,
    /** Reads it; right to half of the time that the database takes to answer. */
    async read(reader: Reader): Promise<void> {
      const askedMs = performance.now();
      const { rows } = await reader.query<{ ms: number }>(
        "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms",
      );
      offsetMs = rows[0]!.ms - (askedMs + performance.now()) / 2;
    },
  };
}
