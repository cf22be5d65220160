/**
 * The names of the cookie that holds a session. Over https it has the prefix that browsers take only
 * from the host itself, over https, for the whole site (RFC 6265bis, section 4.1.3.2).
 */
export const SESSION_COOKIES = { https: "__Host-session", http: "session" } as const;

const HTTPS_TOKEN = /(?:^|;)\s*__Host-session=([A-Za-z0-9_-]{43})\s*(?:;|$)/;
const HTTP_TOKEN = /(?:^|;)\s*session=([A-Za-z0-9_-]{43})\s*(?:;|$)/;

/**
 * The session in a `Cookie` header: 32 random bytes in base64url; undefined when there is none. The
 * cookie with the prefix wins: one without it may have been set by another host of the same domain.
 */
export function readSessionCookie(cookie: string): string | undefined {
  return (HTTPS_TOKEN.exec(cookie) ?? HTTP_TOKEN.exec(cookie))?.[1];
}
