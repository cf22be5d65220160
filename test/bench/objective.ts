/**
 * Service-level objective in the operations guide: maximum duration of 99 % of successful calls.
 * Each duration is a bucket bound of the duration histogram, so that alerts can use it.
 */
export const OBJECTIVE = {
  quote: { p99Ms: 25, requestsPerSecond: 1_000 },
  create: { p99Ms: 100, requestsPerSecond: 100 },
} as const;
