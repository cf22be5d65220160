/** What calls are counted together. */
export const LIMIT_CLASSES = ["quote", "read", "write"] as const;

export type LimitClass = (typeof LIMIT_CLASSES)[number];

/** How often calls of one class may be made: a bucket of calls that fills steadily. */
export interface RateLimit {
  /** Calls a second, from 1 to 1,000,000. */
  readonly rate: number;
  /** Calls that can be made at once after a rest, from 1 to 1,000,000. */
  readonly burst: number;
}

export type RateLimits = Readonly<Record<LimitClass, RateLimit>>;

/** What every workspace may do until its operator says otherwise. */
export const DEFAULT_LIMITS: RateLimits = {
  quote: { rate: 10_000, burst: 20_000 },
  read: { rate: 5_000, burst: 10_000 },
  write: { rate: 2_000, burst: 4_000 },
};

export const OPERATOR_LIMITS: RateLimits = {
  quote: { rate: 100, burst: 200 },
  read: { rate: 200, burst: 400 },
  write: { rate: 100, burst: 200 },
};

/**
 * What every workspace may do with payment providers, which it reaches by the platform's key: have its
 * account looked at, have payments looked at by its calls, and sign notices by secrets of its own.
 */
export const PROVIDER_LIMITS = {
  account: { rate: 1, burst: 20 },
  payments: { rate: 20, burst: 200 },
  notices: { rate: 10, burst: 600 },
} as const;

/** How long an empty bucket takes to fill, in whole seconds, at least 1. */
export function windowSeconds({ rate, burst }: RateLimit): number {
  return Math.ceil(burst / rate);
}

export interface RateLimitState {
  readonly limitClass: LimitClass;
  readonly limit: RateLimit;
  readonly verdict: Verdict;
}

export interface Verdict {
  readonly allowed: boolean;
  /** Whole calls left after this one. */
  readonly remaining: number;
  /** Seconds to the next token if empty, else until full. */
  readonly resetSeconds: number;
}

/**
 * One call, in the unit in which buckets count: a bucket gains its `rate` of these each microsecond,
 * so that counting stays in whole numbers and is exact wherever it is done.
 */
const CALL = 1_000_000;

/** A token bucket: how many calls were in it at a moment. */
export interface Bucket {
  /** Millionths of a call: a whole number from 0 to `burst` millions. */
  microCalls: number;
  /** Whole microseconds. */
  atUs: number;
}

/** A bucket nothing has been taken from. */
export function fullBucket({ burst }: RateLimit, nowMs: number): Bucket {
  return { microCalls: burst * CALL, atUs: toMicroseconds(nowMs) };
}

/** Whether a bucket has filled up again, so that it need not be remembered. */
export function isFull(bucket: Bucket, limit: RateLimit, nowMs: number): boolean {
  return filledTo(bucket, limit, toMicroseconds(nowMs)) === limit.burst * CALL;
}

/** Takes one call out of a bucket, if there is one. The limiter in Redis does the same in a script: keep both alike. */
export function takeCall(bucket: Bucket, limit: RateLimit, nowMs: number): Verdict {
  const nowUs = toMicroseconds(nowMs);
  bucket.microCalls = filledTo(bucket, limit, nowUs);
  bucket.atUs = nowUs;
  const allowed = bucket.microCalls >= CALL;
  if (allowed) bucket.microCalls -= CALL;
  return verdictOf(allowed, bucket.microCalls, limit);
}

/** Puts a call that was taken back. */
export function giveCallBack(bucket: Bucket, { burst }: RateLimit): void {
  bucket.microCalls = Math.min(burst * CALL, bucket.microCalls + CALL);
}

/** The verdict on a call that left so many millionths of a call in its bucket. */
export function verdictOf(allowed: boolean, microCalls: number, limit: RateLimit): Verdict {
  const awaited = (allowed ? limit.burst : 1) * CALL;
  return {
    allowed,
    remaining: Math.floor(microCalls / CALL),
    resetSeconds: Math.ceil((awaited - microCalls) / (limit.rate * CALL)),
  };
}

/** A clock that was set back adds nothing. */
function filledTo({ microCalls, atUs }: Bucket, { rate, burst }: RateLimit, nowUs: number): number {
  return Math.min(burst * CALL, microCalls + Math.max(0, nowUs - atUs) * rate);
}

function toMicroseconds(ms: number): number {
  return Math.round(ms * 1_000);
}
