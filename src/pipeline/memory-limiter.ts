import {
  fullBucket,
  isFull,
  LIMIT_CLASSES,
  takeCall,
  type Bucket,
  type LimitClass,
  type RateLimit,
} from "../domain/rate-limit.ts";
import type { Limiter } from "./limiter.ts";

/** How many buckets of a class are remembered before full ones, which say nothing, are forgotten. */
const MAX_BUCKETS = 10_000;

/** By workspace. */
type Buckets = Map<number, { readonly bucket: Bucket; readonly limit: RateLimit }>;

/** Counts the calls of this process, exactly. `nowMs` never goes back. */
export function createMemoryLimiter(nowMs: () => number): Limiter {
  const byClass = Object.fromEntries(
    LIMIT_CLASSES.map((limitClass) => [limitClass, new Map() as Buckets]),
  ) as Readonly<Record<LimitClass, Buckets>>;

  function bucketOf(buckets: Buckets, workspaceId: number, limit: RateLimit): Bucket {
    const known = buckets.get(workspaceId);
    if (known?.limit === limit) return known.bucket;
    if (buckets.size >= MAX_BUCKETS) forgetFull(buckets);
    // A limit that was set anew begins with what is left, or with a full bucket.
    const bucket = known?.bucket ?? fullBucket(limit, nowMs());
    buckets.set(workspaceId, { bucket, limit });
    return bucket;
  }

  function forgetFull(buckets: Buckets): void {
    for (const [workspaceId, { bucket, limit }] of buckets) {
      if (isFull(bucket, limit, nowMs())) buckets.delete(workspaceId);
    }
  }

  return {
    take: (workspaceId, limitClass, limit) =>
      takeCall(bucketOf(byClass[limitClass], workspaceId, limit), limit, nowMs()),
    close: async () => undefined,
  };
}
