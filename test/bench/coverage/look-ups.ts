/** What one round of look-ups saw. */
export interface LookUps {
  readonly perSecond: number;
  /** Of look-ups timed one by one, in microseconds; undefined where only many together are timed. */
  readonly medianMicros?: number;
  readonly p99Micros?: number;
  /** How many of the points were in some zone. */
  readonly covered: number;
}

/** How many zones there are, from case to case. */
export const ZONE_COUNTS = [10, 1_000, 10_000, 100_000] as const;

/** How many different places are looked up. */
export const POINTS = 10_000;
