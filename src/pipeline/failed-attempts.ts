import { fullBucket, isFull, takeCall, type Bucket, type RateLimit } from "../domain/rate-limit.ts";
import { refuse } from "../domain/refusal.ts";

/** How many addresses are counted before those that have not failed lately are forgotten. */
const MAX_ADDRESSES = 10_000;
/** Counts the rest when there are that many addresses. */
const ANY_ADDRESS = "";

/** Counts what failed against the address it came from. */
export interface FailedAttempts {
  /** @throws Refusal RATE_LIMITED when too many of the address have failed */
  assertFew(address: string): void;
  count(address: string): void;
}

/**
 * Builds the counter.
 *
 * @param nowMs never goes back
 * @param limit how often an address may fail; at least once a second
 * @param what has failed, for the words of the refusal ("unknown keys")
 */
export function createFailedAttempts(
  nowMs: () => number,
  limit: RateLimit,
  what: string,
): FailedAttempts {
  const buckets = new Map<string, Bucket>();

  function forgetFull(now: number): void {
    for (const [address, bucket] of buckets) {
      if (isFull(bucket, limit, now)) buckets.delete(address);
    }
  }

  /** The address that one is counted as. */
  const counted = (address: string) =>
    buckets.size < MAX_ADDRESSES || buckets.has(address) ? address : ANY_ADDRESS;

  return {
    assertFew(address) {
      const bucket = buckets.get(counted(address));
      if (bucket === undefined) return;
      // Asks on a copy whether there is one left.
      if (takeCall({ ...bucket }, limit, nowMs()).allowed) return;
      const text = `Too many ${what} came from this address; try again in 1 s.`;
      throw refuse("RATE_LIMITED", text, { retryAfterSeconds: 1 });
    },
    count(address) {
      const now = nowMs();
      if (buckets.size >= MAX_ADDRESSES) forgetFull(now);
      const bucket = buckets.getOrInsertComputed(counted(address), () => fullBucket(limit, now));
      takeCall(bucket, limit, now);
    },
  };
}
