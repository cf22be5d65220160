import { refuse } from "../../domain/refusal.ts";
import type { CallHeaders } from "../call-headers.ts";

/**
 * A browser sends a session's cookie whoever makes the call, so that a call with one counts only if it
 * comes from a page of this site: by Fetch Metadata, or by its origin where a browser has none of that.
 *
 * @param isHttps whether browsers reach the service over https: a page of the same host over http may be
 * anybody's who is on the way
 * @throws Refusal CROSS_SITE
 */
export function assertSameSite({ fetchSite, origin, host }: CallHeaders, isHttps: boolean): void {
  if (fetchSite === "same-origin") return;
  if (fetchSite === undefined && isOwnOrigin(origin, host, isHttps)) return;
  throw refuse("CROSS_SITE", "Calls with a session are taken from pages of this site alone.");
}

function isOwnOrigin(origin: string | undefined, host: string | undefined, isHttps: boolean) {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  return protocol === (isHttps ? "https:" : "http:") && from === host;
}
