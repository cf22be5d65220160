import {
  fullBucket,
  isFull,
  LIMIT_CLASSES,
  consumeCall,
  refillSeconds,
  type Bucket,
  type LimitClass,
  type RateLimit,
  type RateLimitState,
  type Verdict,
} from "../../domain/rate-limit.ts";

export interface Limiter {
  /**
   * Takes one call from the account's bucket for a limit class. The account is a workspace or an
   * operator. Never rejects.
   */
  consume(account: number | string, limitClass: LimitClass, limit: RateLimit): Verdict | Promise<Verdict>;
  close(): Promise<void>;
}

/** Number of buckets per class above which full buckets are removed. */
const MAX_BUCKETS = 10_000;

type Buckets = Map<number | string, { readonly bucket: Bucket; readonly limit: RateLimit }>;

/** Creates an exact limiter for one process. `nowMs` must not decrease. */
export function createMemoryLimiter(nowMs: () => number): Limiter {
  const byClass = Object.fromEntries(LIMIT_CLASSES.map((limitClass) => [limitClass, new Map() as Buckets])) as Readonly<
    Record<LimitClass, Buckets>
  >;

  function bucketOf(buckets: Buckets, account: number | string, limit: RateLimit, now: number): Bucket {
    const known = buckets.get(account);
    if (known?.limit === limit) return known.bucket;
    if (buckets.size >= MAX_BUCKETS) forgetFull(buckets, now);
    // When a limit changes, the bucket keeps its remaining calls. A full bucket stays full under the new limit.
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
    consume(account, limitClass, limit) {
      const now = nowMs();
      return consumeCall(bucketOf(byClass[limitClass], account, limit, now), limit, now);
    },
    close: async () => undefined,
  };
}

/**
 * Returns the RateLimit-Policy and RateLimit headers of draft-ietf-httpapi-ratelimit-headers-10: `q`
 * calls in `w` seconds, `r` left, `t` seconds until more calls are available.
 */
export function rateLimitHeaders(state: RateLimitState | undefined): Record<string, string> {
  if (state === undefined) return {};
  const { limitClass, limit, verdict } = state;
  const { remaining, resetSeconds } = verdict;
  return {
    "ratelimit-policy": `"${limitClass}";q=${limit.burst};w=${refillSeconds(limit)}`,
    ratelimit: `"${limitClass}";r=${remaining};t=${resetSeconds}`,
  };
}
