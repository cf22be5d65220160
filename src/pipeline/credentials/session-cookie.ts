import { refuse } from "../../domain/refusal.ts";
import type { CallHeaders } from "../call-headers.ts";

/**
 * The names of the cookie that holds a session. Over https it has the prefix that browsers take only
 * from the host itself, over https, for the whole site (RFC 6265bis, section 4.1.3.2).
 */
export const SESSION_COOKIES = { https: "__Host-session", http: "session" } as const;

const HTTPS_TOKEN = /(?:^|;)\s*__Host-session=([A-Za-z0-9_-]{43})\s*(?:;|$)/;
const HTTP_TOKEN = /(?:^|;)\s*session=([A-Za-z0-9_-]{43})\s*(?:;|$)/;

/**
 * The session in a `Cookie` header: 32 random bytes in base64url; undefined when there is none. Over
 * https only the cookie with the prefix counts: one without it may have been set by another host of the
 * same domain, or by somebody on the way, over http.
 */
export function readSessionCookie(
  cookie: string | undefined,
  isHttps: boolean,
): string | undefined {
  if (cookie === undefined) return undefined;
  return (isHttps ? HTTPS_TOKEN : HTTP_TOKEN).exec(cookie)?.[1];
}

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
  throw refuse("CROSS_SITE");
}

function isOwnOrigin(origin: string | undefined, host: string | undefined, isHttps: boolean) {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  return protocol === (isHttps ? "https:" : "http:") && from === host;
}
