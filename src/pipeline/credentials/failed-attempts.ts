import { addressBlock } from "../client-address.ts";
import { fullBucket, returnCall, isFull, consumeCall, type Bucket, type RateLimit } from "../../domain/rate-limit.ts";
import { Refusal, refuse } from "../../domain/refusal.ts";

/** Number of counters above which counters without recent failures are removed. */
const MAX_COUNTED = 10_000;
/** Key of the counter that all further origins share once `MAX_COUNTED` is reached. */
const OTHERS = "";

export type FailedAttempts = ReturnType<typeof createFailedAttempts>;

/**
 * Creates counters of failed attempts by address or another key.
 *
 * @param tooMany message of the refusal ("Too many unknown keys from this address")
 */
export function createFailedAttempts(limit: RateLimit, tooMany: string, nowMs = () => performance.now()) {
  const buckets = new Map<string, Bucket>();

  function forgetFull(now: number): void {
    for (const [who, bucket] of buckets) {
      if (isFull(bucket, limit, now)) buckets.delete(who);
    }
  }

  function bucketOf(who: string, now: number): Bucket {
    if (buckets.size >= MAX_COUNTED && !buckets.has(who)) forgetFull(now);
    const isCounted = buckets.size < MAX_COUNTED || buckets.has(who);
    return buckets.getOrInsertComputed(isCounted ? who : OTHERS, () => fullBucket(limit, now));
  }

  return {
    /**
     * Makes an attempt. It counts as failed until it succeeds, so that concurrent attempts cannot exceed the limit.
     *
     * @param who an address or another key. IPv6 addresses of one /64 count together.
     * @param attempt returns undefined or throws a refusal if it fails. Internal errors do not count.
     * @throws Refusal RATE_LIMITED after too many failures, and errors of `attempt`
     */
    async make<T>(who: string, attempt: () => Promise<T | undefined>): Promise<T | undefined> {
      const block = addressBlock(who);
      const bucket = bucketOf(block, nowMs());
      if (!consumeCall(bucket, limit, nowMs()).allowed) {
        throw refuse("RATE_LIMITED", `${tooMany}. Try again in 1 s.`, { retryAfterSeconds: 1 });
      }
      let failed = false;
      try {
        const found = await attempt();
        failed = found === undefined;
        return found;
      } catch (error) {
        failed = error instanceof Refusal && error.reason !== "UNAVAILABLE";
        throw error;
      } finally {
        if (!failed) returnCall(bucket, limit);
        if (isFull(bucket, limit, nowMs()) && buckets.get(block) === bucket) buckets.delete(block);
      }
    },
  };
}
