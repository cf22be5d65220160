const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Delay before each attempt, in milliseconds (Standard Webhooks 1.0.0). */
const WAITS_MS = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** Maximum relative jitter of a delay. Spreads the retries of simultaneous failures. */
const JITTER = 0.1;
const MAX_REQUESTED_WAIT_MS = 24 * HOUR_MS;
/** Time without a successful delivery after which a webhook is disabled, in milliseconds. */
const MAX_FAILING_MS = 5 * 24 * HOUR_MS;

export const MAX_ATTEMPTS = WAITS_MS.length;

/**
 * Returns the delay before the next attempt, in milliseconds. Returns `undefined` after the last attempt.
 *
 * @param attempts number of attempts made
 * @param requestedMs delay from Retry-After. Capped at one day
 * @param random 0 to 1
 */
export function nextWaitMs(attempts: number, requestedMs: number | undefined, random: number): number | undefined {
  const waitMs = WAITS_MS[attempts];
  if (waitMs === undefined) return undefined;
  const withJitterMs = Math.round(waitMs * (1 + JITTER * random));
  return Math.max(withJitterMs, Math.min(requestedMs ?? 0, MAX_REQUESTED_WAIT_MS));
}

/** Whether a webhook has been failing so long that it must be disabled. */
export function hasFailedTooLong(failingSince: Date, now: Date): boolean {
  return now.getTime() - failingSince.getTime() >= MAX_FAILING_MS;
}

/**
 * Parses a Retry-After header, in whole seconds or a date, into milliseconds (RFC 9110, 10.2.3).
 * Returns `undefined` if it is absent or invalid.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(header)) return Number(header) * SECOND_MS;
  const date = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
