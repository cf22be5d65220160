import {
  fullBucket,
  isFull,
  LIMIT_CLASSES,
  takeCall,
  type Bucket,
  type LimitClass,
  type RateLimit,
} from "../../domain/rate-limit.ts";
import type { Limiter } from "./limiter.ts";

/** How many buckets of a class are remembered before full ones, which say nothing, are forgotten. */
const MAX_BUCKETS = 10_000;

/** By account. */
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
