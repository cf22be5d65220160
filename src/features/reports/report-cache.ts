import { LRUCache } from "lru-cache";

/** Cache of slow reports, which limits the load of repeated requests. */
export type ReportCache<Report extends object> = ReturnType<typeof createReportCache<Report>>;

/** Minimum computation time of a cached report, in milliseconds. */
const SLOW_MS = 100;
/** Cache time of a report, as a multiple of its computation time. */
const FACTOR = 20;
/** Maximum cache time of a report, in milliseconds. */
const MAX_AGE_MS = 30_000;
const MAX_REPORTS = 500;

export function createReportCache<Report extends object>() {
  const cache = new LRUCache<string, Report, () => Promise<Report>>({
    max: MAX_REPORTS,
    ttlResolution: 0,
    // Waiting callers still get a report that was evicted during its computation.
    ignoreFetchAbort: true,
    async fetchMethod(_key, _stale, { options, context: compute }) {
      const startedMs = performance.now();
      const report = await compute();
      const tookMs = performance.now() - startedMs;
      // Not 0, which LRUCache treats as no expiry.
      options.ttl = tookMs < SLOW_MS ? 1e-3 : Math.min(MAX_AGE_MS, tookMs * FACTOR);
      return report;
    },
  });
  return {
    /**
     * Returns the cached report. Computes the report if it is missing, once for concurrent callers.
     * Rejects with errors of `compute`.
     */
    get: (key: string, compute: () => Promise<Report>) => cache.forceFetch(key, { context: compute }),
  };
}
