import { fullBucket, isFull, takeCall, type Bucket, type RateLimit } from "../domain/rate-limit.ts";
import type { Limiter } from "../rpc/limiter.ts";

/** How many buckets are remembered before full ones, which say nothing, are forgotten. */
const MAX_BUCKETS = 30_000;

/** Counts the calls of this process, exactly. `nowMs` never goes back. */
export function createMemoryLimiter(nowMs: () => number): Limiter {
  const buckets = new Map<string, { bucket: Bucket; limit: RateLimit }>();

  function bucketOf(name: string, limit: RateLimit): Bucket {
    const known = buckets.get(name);
    if (known?.limit === limit) return known.bucket;
    if (buckets.size >= MAX_BUCKETS) forgetFull();
    // A limit that was set anew begins with what is left, or with a full bucket.
    const bucket = known?.bucket ?? fullBucket(limit, nowMs());
    buckets.set(name, { bucket, limit });
    return bucket;
  }

  function forgetFull(): void {
    for (const [name, { bucket, limit }] of buckets) {
      if (isFull(bucket, limit, nowMs())) buckets.delete(name);
    }
  }

  return {
    take: (workspaceId, limitClass, limit) =>
      takeCall(bucketOf(`${workspaceId} ${limitClass}`, limit), limit, nowMs()),
    close: async () => undefined,
  };
}
