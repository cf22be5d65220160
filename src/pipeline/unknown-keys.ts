import { fullBucket, isFull, takeCall, type Bucket, type RateLimit } from "../domain/rate-limit.ts";
import { refuse } from "../domain/refusal.ts";

/** How often an address may send well-formed keys that turn out to be unknown, unless told otherwise. */
const LIMIT: RateLimit = { rate: 100, burst: 1_000 };
/** How many addresses are counted before those that have not sent any lately are forgotten. */
const MAX_ADDRESSES = 10_000;
/** Counts the rest when there are that many addresses. */
const ANY_ADDRESS = "";

/** Counts unknown keys against the address they came from, since each costs a look-up. */
export interface UnknownKeys {
  /** @throws Refusal RATE_LIMITED when the address has sent too many */
  assertFew(address: string): void;
  count(address: string): void;
}

/** Builds the counter. `nowMs` never goes back. */
export function createUnknownKeys(nowMs: () => number, limit: RateLimit = LIMIT): UnknownKeys {
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
      const text = "Too many unknown keys came from this address; try again in 1 s.";
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
