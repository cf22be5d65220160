import {
  fullBucket,
  isFull,
  LIMIT_CLASSES,
  takeCall,
  windowSeconds,
  type Bucket,
  type LimitClass,
  type RateLimit,
  type RateLimitState,
  type Verdict,
} from "../../domain/rate-limit.ts";

export interface Limiter {
  /** Takes a call of a class out of what an account (a workspace, or an operator) has left. Never rejects. */
  take(
    account: number | string,
    limitClass: LimitClass,
    limit: RateLimit,
  ): Verdict | Promise<Verdict>;
  close(): Promise<void>;
}

/** How many buckets of a class are remembered before full ones, which say nothing, are forgotten. */
const MAX_BUCKETS = 10_000;

type Buckets = Map<number | string, { readonly bucket: Bucket; readonly limit: RateLimit }>;

/** Counts the calls of this process, exactly. `nowMs` never goes back. */
export function createMemoryLimiter(nowMs: () => number): Limiter {
  const byClass = Object.fromEntries(
    LIMIT_CLASSES.map((limitClass) => [limitClass, new Map() as Buckets]),
  ) as Readonly<Record<LimitClass, Buckets>>;

  function bucketOf(
    buckets: Buckets,
    account: number | string,
    limit: RateLimit,
    now: number,
  ): Bucket {
    const known = buckets.get(account);
    if (known?.limit === limit) return known.bucket;
    if (buckets.size >= MAX_BUCKETS) forgetFull(buckets, now);
    // A limit that was set anew begins with what is left, or with a full bucket.
    const isUsed = known !== undefined && !isFull(known.bucket, known.limit, now);
    const bucket = isUsed ? known.bucket : fullBucket(limit, now);
    buckets.set(account, { bucket, limit });
    return bucket;
  }

  function forgetFull(buckets: Buckets, now: number): void {
    for (const [account, { bucket, limit }] of buckets) {
      if (isFull(bucket, limit, now)) buckets.delete(account);
    }
  }

  return {
    take(account, limitClass, limit) {
      const now = nowMs();
      return takeCall(bucketOf(byClass[limitClass], account, limit, now), limit, now);
    },
    close: async () => undefined,
  };
}

/**
 * What a workspace may do and has left: the RateLimit-Policy and RateLimit header fields of
 * draft-ietf-httpapi-ratelimit-headers-10 (`q` calls in `w` seconds; `r` left, `t` seconds until
 * there are more).
 */
export function rateLimitHeaders(state: RateLimitState | undefined): Record<string, string> {
  if (state === undefined) return {};
  const { limitClass, limit, verdict } = state;
  const { remaining, resetSeconds } = verdict;
  return {
    "ratelimit-policy": `"${limitClass}";q=${limit.burst};w=${windowSeconds(limit)}`,
    ratelimit: `"${limitClass}";r=${remaining};t=${resetSeconds}`,
  };
}
