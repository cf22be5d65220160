import { windowSeconds, type RateLimitState } from "../../domain/rate-limit.ts";

/**
 * What a workspace may do and has left: the RateLimit-Policy and RateLimit header fields of
 * draft-ietf-httpapi-ratelimit-headers-10 (`q` calls in `w` seconds; `r` left, `t` seconds until
 * there are more).
 */
export function rateLimitHeaders({ limitClass, limit, verdict }: RateLimitState) {
  const { remaining, resetSeconds } = verdict;
  return {
    "ratelimit-policy": `"${limitClass}";q=${limit.burst};w=${windowSeconds(limit)}`,
    ratelimit: `"${limitClass}";r=${remaining};t=${resetSeconds}`,
  };
}
