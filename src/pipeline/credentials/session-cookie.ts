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
 *
 * @param isHttps whether browsers reach the service over https
 */
export function readSessionCookie(
  cookie: string | undefined,
  isHttps: boolean,
): string | undefined {
  if (cookie === undefined) return undefined;
  return (isHttps ? HTTPS_TOKEN : HTTP_TOKEN).exec(cookie)?.[1];
}
