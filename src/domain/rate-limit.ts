/** What calls are counted together. */
export const LIMIT_CLASSES = ["quote", "read", "write"] as const;

/** What calls are counted together. */
export type LimitClass = (typeof LIMIT_CLASSES)[number];

/** How often calls of one class may be made: a bucket of calls that fills steadily. */
export interface RateLimit {
  /** Calls a second, from 1 to 1,000,000. */
  readonly rate: number;
  /** Calls that can be made at once after a rest, from 1 to 1,000,000. */
  readonly burst: number;
}

/** The limits of one workspace. */
export type RateLimits = Readonly<Record<LimitClass, RateLimit>>;

/** What every workspace may do until its operator says otherwise. */
export const DEFAULT_LIMITS: RateLimits = {
  quote: { rate: 10_000, burst: 20_000 },
  read: { rate: 5_000, burst: 10_000 },
  write: { rate: 2_000, burst: 4_000 },
};

/** How long an empty bucket takes to fill, in whole seconds, at least 1. */
export function windowSeconds({ rate, burst }: RateLimit): number {
  return Math.ceil(burst / rate);
}

/** A limit, and what is left of it. */
export interface RateLimitState {
  readonly limitClass: LimitClass;
  readonly limit: RateLimit;
  readonly verdict: Verdict;
}

/** Whether a call may be made, and how many more. */
export interface Verdict {
  readonly allowed: boolean;
  /** Whole calls left after this one. */
  readonly remaining: number;
  /** Whole seconds until there is a call again, when there is none, else until all are there. */
  readonly resetSeconds: number;
}

/** A bucket: how many calls were in it at a moment. */
export interface Bucket {
  calls: number;
  atMs: number;
}

/** A bucket nothing has been taken from. */
export function fullBucket({ burst }: RateLimit, nowMs: number): Bucket {
  return { calls: burst, atMs: nowMs };
}

/** Whether a bucket has filled up again, so that it need not be remembered. */
export function isFull(
  { calls, atMs }: Bucket,
  { rate, burst }: RateLimit,
  nowMs: number,
): boolean {
  return calls + ((nowMs - atMs) / 1_000) * rate >= burst;
}

/** Takes one call out of a bucket, if there is one. */
export function takeCall(bucket: Bucket, limit: RateLimit, nowMs: number): Verdict {
  const { rate, burst } = limit;
  const filled = bucket.calls + (Math.max(0, nowMs - bucket.atMs) / 1_000) * rate;
  bucket.calls = Math.min(burst, filled);
  bucket.atMs = nowMs;
  if (bucket.calls < 1) {
    return { allowed: false, remaining: 0, resetSeconds: Math.ceil((1 - bucket.calls) / rate) };
  }
  bucket.calls -= 1;
  const resetSeconds = Math.ceil((burst - bucket.calls) / rate);
  return { allowed: true, remaining: Math.floor(bucket.calls), resetSeconds };
}
