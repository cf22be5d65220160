import { refuse } from "../../domain/refusal.ts";
import type { CallHeaders } from "../call-headers.ts";

/**
 * Names of the session cookie. Browsers accept the `__Host-` prefix only over https, from the same host
 * and for the whole site (RFC 6265bis, 4.1.3.2).
 */
export const SESSION_COOKIES = { https: "__Host-session", http: "session" } as const;

const HTTPS_TOKEN = /(?:^|;)\s*__Host-session=([A-Za-z0-9_-]{43})\s*(?:;|$)/;
const HTTP_TOKEN = /(?:^|;)\s*session=([A-Za-z0-9_-]{43})\s*(?:;|$)/;

/**
 * Returns the session token of a `Cookie` header: 32 random bytes in base64url. Returns `undefined` if there is none.
 * Over https, only the prefixed cookie is accepted, because another host of the domain, or an attacker on http, can set
 * a cookie without a prefix.
 */
export function readSessionCookie(cookie: string | undefined, isHttps: boolean): string | undefined {
  if (cookie === undefined) return undefined;
  return (isHttps ? HTTPS_TOKEN : HTTP_TOKEN).exec(cookie)?.[1];
}

/** Names of the cookie of a courier who opened a link. */
export const COURIER_COOKIES = { https: "__Host-courier", http: "courier" } as const;

const HTTPS_COURIER = /(?:^|;)\s*__Host-courier=([0-9a-z]{1,10}\.[A-Za-z0-9_-]{43})\s*(?:;|$)/;
const HTTP_COURIER = /(?:^|;)\s*courier=([0-9a-z]{1,10}\.[A-Za-z0-9_-]{43})\s*(?:;|$)/;

/** Like `readSessionCookie`, for the session of a courier: the workspace in base 36, and 32 random bytes in base64url. */
export function readCourierCookie(cookie: string | undefined, isHttps: boolean): string | undefined {
  if (cookie === undefined) return undefined;
  return (isHttps ? HTTPS_COURIER : HTTP_COURIER).exec(cookie)?.[1];
}

/**
 * Checks that a page of this site sent the request, because browsers send session cookies with any request. Uses Fetch
 * Metadata, or the origin in browsers without it.
 *
 * @param isHttps whether browsers use https. An http page of the same host could be forged on the network.
 * @throws Refusal CROSS_SITE
 */
export function assertSameSite({ fetchSite, origin, host }: CallHeaders, isHttps: boolean): void {
  if (fetchSite === "same-origin") return;
  if (fetchSite === undefined && isOwnOrigin(origin, host, isHttps)) return;
  throw refuse("CROSS_SITE");
}

function isOwnOrigin(origin: string | undefined, host: string | undefined, isHttps: boolean) {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  return protocol === (isHttps ? "https:" : "http:") && from === host;
}
