import { LRUCache } from "lru-cache";

/** Caches slow reports, so that repeated requests cost little. */
export interface ReportCache<Report extends object> {
  /** Returns the cached report, the one being computed, or a new one. Rejects with the error of `compute`. */
  get(key: string, compute: () => Promise<Report>): Promise<Report>;
}

/** Faster reports are not cached, in milliseconds. */
const SLOW_MS = 100;
/** Time to cache a report, as a multiple of its computation time. */
const FACTOR = 20;
/** Maximum time to cache a report, in milliseconds. */
const MAX_AGE_MS = 30_000;
const MAX_REPORTS = 500;

export function createReportCache<Report extends object>(): ReportCache<Report> {
  const cache = new LRUCache<string, Report, () => Promise<Report>>({
    max: MAX_REPORTS,
    ttlResolution: 0,
    // Waiting callers get the report even if it was evicted.
    ignoreFetchAbort: true,
    async fetchMethod(_key, _stale, { options, context: compute }) {
      const startedMs = performance.now();
      const report = await compute();
      const tookMs = performance.now() - startedMs;
      // A time to live of 0 would mean no expiry.
      options.ttl = tookMs < SLOW_MS ? 1e-3 : Math.min(MAX_AGE_MS, tookMs * FACTOR);
      return report;
    },
  });
  return { get: (key, compute) => cache.forceFetch(key, { context: compute }) };
}
