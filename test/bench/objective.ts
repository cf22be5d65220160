/**
 * The service-level objective, as the operations guide publishes it: of calls that succeed, 99 % take
 * no longer than this. Each is a bound of the histogram of durations, so that alerts can count by it.
 */
export const OBJECTIVE = {
  quote: { p99Ms: 25, requestsPerSecond: 1_000 },
  create: { p99Ms: 100, requestsPerSecond: 100 },
} as const;
