import type { DescMethod } from "@bufbuild/protobuf";

/** Holds calls back that the service would refuse, as the `RateLimit` headers of its refusals say. */
export interface RateLimits {
  /** How long to wait before a call of this method, in milliseconds; 0 when it may be made. */
  waitMs(method: DescMethod, nowMs: number): number;
  /** Notes what an answer to a call of the method says. */
  note(method: DescMethod, headers: Headers, isRefused: boolean, nowMs: number): void;
}

/**
 * `"write";r=0;t=1`: the class of the call, and in how many seconds there is a call again. That is so of
 * refusals alone: after a call that was allowed, `t` is when the class is full.
 */
const RATE_LIMIT = /^"(\w+)";r=\d+;t=(\d+)$/;

export function createRateLimits(): RateLimits {
  /** Which class a method is counted in, as its first answer tells. */
  const classes = new Map<DescMethod, string>();
  const freeAtMs = new Map<string | undefined, number>();
  return {
    waitMs: (method, nowMs) => Math.max(0, (freeAtMs.get(classes.get(method)) ?? 0) - nowMs),
    note(method, headers, isRefused, nowMs) {
      const [, limited, seconds] = RATE_LIMIT.exec(headers.get("ratelimit") ?? "") ?? [];
      if (limited === undefined) return;
      classes.set(method, limited);
      if (isRefused) freeAtMs.set(limited, nowMs + Number(seconds) * 1_000);
    },
  };
}
