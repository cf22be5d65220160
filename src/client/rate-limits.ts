import type { DescMethod } from "@bufbuild/protobuf";

/** Holds calls back that the service would refuse, as the `RateLimit` headers of its answers say. */
export interface RateLimits {
  /** How long to wait before a call of this method, in milliseconds; 0 when it may be made. */
  waitMs(method: DescMethod, nowMs: number): number;
  /** Notes what an answer to a call of the method says. */
  note(method: DescMethod, headers: Headers, nowMs: number): void;
}

/** `"write";r=0;t=1`: so many calls of the class are left, and the next is there in so many seconds. */
const RATE_LIMIT = /^"(\w+)";r=(\d+);t=(\d+)$/;

export function createRateLimits(): RateLimits {
  /** Which class a method is counted in, as its first answer tells. */
  const classes = new Map<DescMethod, string>();
  const freeAtMs = new Map<string, number>();
  return {
    waitMs(method, nowMs) {
      const limited = classes.get(method);
      return limited === undefined ? 0 : Math.max(0, (freeAtMs.get(limited) ?? 0) - nowMs);
    },
    note(method, headers, nowMs) {
      const [, limited, left, seconds] = RATE_LIMIT.exec(headers.get("ratelimit") ?? "") ?? [];
      if (limited === undefined) return;
      classes.set(method, limited);
      freeAtMs.set(limited, Number(left) > 0 ? 0 : nowMs + Number(seconds) * 1_000);
    },
  };
}
