import type { DescMethod } from "@bufbuild/protobuf";

/** Spaces out calls after the service refused one of their class, as the `RateLimit` headers say. */
export interface RateLimits {
  /**
   * Reserves the next moment at which a call of this method may be sent. Callers that wait at the same time get moments
   * apart, as the rate allows.
   *
   * @returns the time to wait, in milliseconds; 0 for none, `undefined` if it ends at the deadline or later
   */
  reserve(method: DescMethod, nowMs: number, deadlineMs: number): number | undefined;
  /** Whether the class of this method was refused and takes no calls yet. */
  isHeld(method: DescMethod, nowMs: number): boolean;
  /** Reads the headers of a response to a call of this method. */
  note(method: DescMethod, headers: Headers, isRefused: boolean, nowMs: number): void;
}

/**
 * `"write";r=0;t=1`: the class of the call, and the seconds until it takes calls again. That is so in
 * refusals only: in other responses, `t` is the time until the class is full.
 */
const RATE_LIMIT = /^"(\w+)";r=\d+;t=(\d+)$/;
/** `"write";q=10;w=2`: 10 calls in 2 seconds. */
const POLICY = /;q=(\d+);w=(\d+)$/;

interface Limit {
  /** Time until which the class takes no calls. */
  heldUntilMs: number;
  /** The next moment that is not reserved. */
  nextMs: number;
  intervalMs: number;
}

export function createRateLimits(): RateLimits {
  /** The class of each method, from its first response. */
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
      const [, limited, seconds] = RATE_LIMIT.exec(headers.get("ratelimit") ?? "") ?? [];
      if (limited === undefined) return;
      classes.set(method, limited);
      if (!isRefused) return;
      const [, calls, windowS] = POLICY.exec(headers.get("ratelimit-policy") ?? "") ?? [];
      const heldUntilMs = nowMs + Number(seconds) * 1_000;
      limits.set(limited, {
        heldUntilMs,
        nextMs: Math.max(heldUntilMs, limits.get(limited)?.nextMs ?? 0),
        intervalMs: calls === undefined ? 0 : (Number(windowS) * 1_000) / Number(calls),
      });
    },
  };
}
