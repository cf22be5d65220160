import type { DescMethod } from "@bufbuild/protobuf";

/** Delays calls of a class after a rate limit refusal, as the `RateLimit` headers require. */
export interface RateLimits {
  /**
   * Reserves the next time at which a call of this method may be sent. Concurrent callers get different times.
   *
   * @returns the delay in milliseconds, 0 for none, `undefined` if the delay reaches the deadline
   */
  reserve(method: DescMethod, nowMs: number, deadlineMs: number): number | undefined;
  /** Whether calls of the method's class are currently delayed. */
  isHeld(method: DescMethod, nowMs: number): boolean;
  note(method: DescMethod, headers: Headers, isRefused: boolean, nowMs: number): void;
}

/**
 * Matches `"write";r=0;t=1`. `t` is the number of seconds until the next call is allowed in refusals,
 * and until the bucket is full in other responses.
 */
const RATE_LIMIT = /^"(\w+)";r=(\d+);t=(\d+)$/;
/** Matches `"write";q=10;w=2`: 10 calls in 2 seconds. */
const POLICY = /;q=(\d+);w=(\d+)$/;

interface Limit {
  /** Time until which calls of the class are delayed. */
  heldUntilMs: number;
  /** Next time that has not been reserved by a call. */
  nextMs: number;
  intervalMs: number;
}

export function createRateLimits(): RateLimits {
  /** Class of each method, known after its first response. */
  const classes = new Map<DescMethod, string>();
  const limits = new Map<string | undefined, Limit>();
  const limitOf = (method: DescMethod) => limits.get(classes.get(method));
  return {
    reserve(method, nowMs, deadlineMs) {
      const limit = limitOf(method);
      if (limit === undefined || limit.nextMs <= nowMs) return 0;
      const { nextMs } = limit;
      if (nextMs >= deadlineMs) return undefined;
      limit.nextMs += limit.intervalMs;
      return nextMs - nowMs;
    },
    isHeld: (method, nowMs) => (limitOf(method)?.heldUntilMs ?? 0) > nowMs,
    note(method, headers, isRefused, nowMs) {
      const [, limited, remaining, seconds] = RATE_LIMIT.exec(headers.get("ratelimit") ?? "") ?? [];
      if (limited === undefined) return;
      classes.set(method, limited);
      // If calls remain, another limit refused the call, such as the one of address searches.
      if (!isRefused || remaining !== "0") return;
      const [, calls, refillS] = POLICY.exec(headers.get("ratelimit-policy") ?? "") ?? [];
      const heldUntilMs = nowMs + Number(seconds) * 1_000;
      limits.set(limited, {
        heldUntilMs,
        nextMs: Math.max(heldUntilMs, limits.get(limited)?.nextMs ?? 0),
        intervalMs: calls === undefined ? 0 : (Number(refillS) * 1_000) / Number(calls),
      });
    },
  };
}
