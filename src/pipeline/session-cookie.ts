/**
 * The names of the cookie that holds a session. Over https it has the prefix that browsers take only
 * from the host itself, over https, for the whole site (RFC 6265bis, section 4.1.3.2).
 */
export const SESSION_COOKIES = { https: "__Host-session", http: "session" } as const;

const TOKEN = /(?:^|;)\s*(?:__Host-)?session=([A-Za-z0-9_-]{43})\s*(?:;|$)/;

/** The session in a `Cookie` header: 32 random bytes in base64url; undefined when there is none. */
export function readSessionCookie(cookie: string): string | undefined {
  return TOKEN.exec(cookie)?.[1];
}
