import { addressBlock } from "../client-address.ts";
import {
  fullBucket,
  giveCallBack,
  isFull,
  takeCall,
  type Bucket,
  type RateLimit,
} from "../../domain/rate-limit.ts";
import { Refusal, refuse } from "../../domain/refusal.ts";

/** How many are counted before those that have not failed lately are forgotten. */
const MAX_COUNTED = 10_000;
/** Counts the rest when there are that many. */
const ANYBODY = "";

/** Counts what failed against whom it came from. */
export interface FailedAttempts {
  /**
   * Makes an attempt, which counts until it turns out well: so those that are made at the same time are
   * not more than those that may fail.
   *
   * @param who an address, or what else it is counted by; IPv6 addresses of one /64 are one
   * @param attempt finds nothing, or is refused, when it fails; a fault of the service's is no failure
   * @throws Refusal RATE_LIMITED when too many have failed, and whatever `attempt` throws
   */
  make<T>(who: string, attempt: () => Promise<T | undefined>): Promise<T | undefined>;
}

/** `tooMany` is what a refusal says ("Too many unknown keys came from this address"). */
export function createFailedAttempts(
  nowMs: () => number,
  limit: RateLimit,
  tooMany: string,
): FailedAttempts {
  const buckets = new Map<string, Bucket>();

  function forgetFull(now: number): void {
    for (const [who, bucket] of buckets) {
      if (isFull(bucket, limit, now)) buckets.delete(who);
    }
  }

  function bucketOf(who: string, now: number): Bucket {
    if (buckets.size >= MAX_COUNTED && !buckets.has(who)) forgetFull(now);
    const isCounted = buckets.size < MAX_COUNTED || buckets.has(who);
    return buckets.getOrInsertComputed(isCounted ? who : ANYBODY, () => fullBucket(limit, now));
  }

  return {
    async make(who, attempt) {
      const block = addressBlock(who);
      const bucket = bucketOf(block, nowMs());
      if (!takeCall(bucket, limit, nowMs()).allowed) {
        throw refuse("RATE_LIMITED", `${tooMany}; try again in 1 s.`, { retryAfterSeconds: 1 });
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
        if (!failed) giveCallBack(bucket, limit);
        if (isFull(bucket, limit, nowMs()) && buckets.get(block) === bucket) buckets.delete(block);
      }
    },
  };
}
