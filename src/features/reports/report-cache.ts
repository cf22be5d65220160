import { LRUCache } from "lru-cache";

/** Keeps reports that took long, so that asking again and again costs little. */
export interface ReportCache<Report extends object> {
  /**
   * The report under a key: a cached one, that of a computation in flight, or a new one. Rejects with
   * what `compute` rejects with.
   */
  get(key: string, compute: () => Promise<Report>): Promise<Report>;
}

/** What took less long is always computed again, in milliseconds. */
const SLOW_MS = 100;
/** For how many times as long as it took a report is cached. */
const FACTOR = 20;
/** For how long at most, in milliseconds. */
const MAX_AGE_MS = 30_000;
const MAX_REPORTS = 500;

export function createReportCache<Report extends object>(): ReportCache<Report> {
  const cache = new LRUCache<string, Report, () => Promise<Report>>({
    max: MAX_REPORTS,
    ttlResolution: 0,
    // Whoever waits for a report gets it, though it is evicted meanwhile.
    ignoreFetchAbort: true,
    async fetchMethod(_key, _stale, { options, context: compute }) {
      const startedMs = performance.now();
      const report = await compute();
      const tookMs = performance.now() - startedMs;
      // A time to live of 0 would have no end.
      options.ttl = tookMs < SLOW_MS ? 1e-3 : Math.min(MAX_AGE_MS, tookMs * FACTOR);
      return report;
    },
  });
  return { get: (key, compute) => cache.forceFetch(key, { context: compute }) };
}
