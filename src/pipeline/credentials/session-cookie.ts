import { refuse } from "../../domain/refusal.ts";
import type { CallHeaders } from "../call-headers.ts";
import { createSiteCookie } from "./site-cookie.ts";

/** Cookie of a session: 32 random bytes in base64url. */
export const SESSION_COOKIE = createSiteCookie("session", "[A-Za-z0-9_-]{43}", "Strict");

/** Cookie of a courier's session: the workspace in base 36, and 32 random bytes in base64url. */
export const COURIER_COOKIE = createSiteCookie("courier", "[0-9a-z]{1,10}\\.[A-Za-z0-9_-]{43}", "Strict");

/**
 * Checks that a page of this site sent the request, because browsers send session cookies with any request. Uses Fetch
 * Metadata, which old browsers and pages on plain HTTP do not send. Without it, uses the origin, or the referrer of a
 * GET, which has no origin within a site.
 *
 * @param isHttps whether browsers use https. An http page of the same host could be forged on the network.
 * @throws Refusal CROSS_SITE
 */
export function assertSameSite({ fetchSite, origin, referer, host }: CallHeaders, isHttps: boolean): void {
  if (fetchSite === "same-origin") return;
  if (fetchSite === undefined && isOwnOrigin(origin ?? referer, host, isHttps)) return;
  throw refuse("CROSS_SITE");
}

function isOwnOrigin(url: string | undefined, host: string | undefined, isHttps: boolean) {
  if (url === undefined || !URL.canParse(url)) return false;
  const { protocol, host: from } = new URL(url);
  return protocol === (isHttps ? "https:" : "http:") && from === host;
}
