import type { Refusal } from "../../domain/refusal.ts";
import { rateLimitHeaders } from "../bounds/rate-limit-headers.ts";

/** The headers that go with a refusal; in gRPC they are trailers. */
export function refusalHeaders({
  reason,
  retryAfterSeconds,
  rateLimit,
}: Refusal): Record<string, string> {
  return {
    ...(rateLimit === undefined ? {} : rateLimitHeaders(rateLimit)),
    ...(reason === "CREDENTIAL_REFUSED" ? { "www-authenticate": "Bearer" } : {}),
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  };
}
