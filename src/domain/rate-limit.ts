/** Classes of calls. Each class has its own rate limit. */
export const LIMIT_CLASSES = ["quote", "read", "write"] as const;

export type LimitClass = (typeof LIMIT_CLASSES)[number];

/** Token bucket parameters for the calls of one class. */
export interface RateLimit {
  /** Refill rate in calls per second, 1 to 1,000,000. */
  readonly rate: number;
  /** Bucket capacity in calls, 1 to 1,000,000. */
  readonly burst: number;
}

export type RateLimits = Readonly<Record<LimitClass, RateLimit>>;

/** Default limits of a workspace. An operator can change them. */
export const DEFAULT_LIMITS: RateLimits = {
  quote: { rate: 10_000, burst: 20_000 },
  read: { rate: 5_000, burst: 10_000 },
  write: { rate: 2_000, burst: 4_000 },
};

/** Limits of each courier who opened a link. The burst covers the acts of a day without a network. */
export const COURIER_LIMITS: RateLimits = {
  quote: { rate: 1, burst: 1 },
  read: { rate: 5, burst: 100 },
  write: { rate: 5, burst: 500 },
};

export const OPERATOR_LIMITS: RateLimits = {
  quote: { rate: 100, burst: 200 },
  read: { rate: 200, burst: 400 },
  write: { rate: 100, burst: 200 },
};

/**
 * Per-workspace limits on provider requests that use the platform's key: account checks, payment
 * checks caused by calls, and events signed with the workspace's own secrets.
 */
export const PROVIDER_LIMITS = {
  account: { rate: 1, burst: 20 },
  payments: { rate: 20, burst: 200 },
  events: { rate: 10, burst: 600 },
} as const;

/** Returns the time to fill an empty bucket, in whole seconds, at least 1. */
export function refillSeconds({ rate, burst }: RateLimit): number {
  return Math.ceil(burst / rate);
}

export interface RateLimitState {
  readonly limitClass: LimitClass;
  readonly limit: RateLimit;
  readonly verdict: Verdict;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Seconds until the next token if the bucket is empty, otherwise until it is full. */
  readonly resetSeconds: number;
}

/** Units per call. A bucket gains `rate` units per microsecond, so all arithmetic uses exact integers. */
const CALL = 1_000_000;

export interface Bucket {
  /** Available calls in millionths, 0 to `burst` million. */
  microCalls: number;
  /** Time of this state, in whole microseconds. */
  atUs: number;
}

export function fullBucket({ burst }: RateLimit, nowMs: number): Bucket {
  return { microCalls: burst * CALL, atUs: toMicroseconds(nowMs) };
}

/** Whether a bucket is full again and need not be stored. */
export function isFull(bucket: Bucket, limit: RateLimit, nowMs: number): boolean {
  return filledTo(bucket, limit, toMicroseconds(nowMs)) === limit.burst * CALL;
}

/** Consumes one call from a bucket if possible. The Redis limiter's script must do the same. */
export function consumeCall(bucket: Bucket, limit: RateLimit, nowMs: number): Verdict {
  const nowUs = toMicroseconds(nowMs);
  bucket.microCalls = filledTo(bucket, limit, nowUs);
  bucket.atUs = nowUs;
  const allowed = bucket.microCalls >= CALL;
  if (allowed) bucket.microCalls -= CALL;
  return verdictOf(allowed, bucket.microCalls, limit);
}

export function returnCall(bucket: Bucket, { burst }: RateLimit): void {
  bucket.microCalls = Math.min(burst * CALL, bucket.microCalls + CALL);
}

/** Returns the verdict for a bucket with `microCalls` left. */
export function verdictOf(allowed: boolean, microCalls: number, limit: RateLimit): Verdict {
  const awaited = (allowed ? limit.burst : 1) * CALL;
  return {
    allowed,
    remaining: Math.floor(microCalls / CALL),
    resetSeconds: Math.ceil((awaited - microCalls) / (limit.rate * CALL)),
  };
}

/** Returns the content of a bucket at a time, in millionths of a call. If the clock was set back, adds no tokens. */
function filledTo({ microCalls, atUs }: Bucket, { rate, burst }: RateLimit, nowUs: number): number {
  return Math.min(burst * CALL, microCalls + Math.max(0, nowUs - atUs) * rate);
}

function toMicroseconds(ms: number): number {
  return Math.round(ms * 1_000);
}
