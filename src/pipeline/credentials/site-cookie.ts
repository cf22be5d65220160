/**
 * Creates a cookie of this site that scripts cannot read. Over https its name has the prefix `__Host-`, which browsers
 * accept only over https, from the same host and for the whole site (RFC 6265bis, 4.1.3.2). Only that name is read
 * over https, because another host of the domain, or an attacker on http, can set a cookie without a prefix.
 *
 * @param value pattern of the value
 */
export function createSiteCookie(name: string, value: string, sameSite: "Strict" | "Lax") {
  const names = { https: `__Host-${name}`, http: name };
  const patternOf = (of: string) => new RegExp(`(?:^|;)\\s*${of}=(${value})\\s*(?:;|$)`);
  const patterns = { https: patternOf(names.https), http: patternOf(names.http) };
  return {
    /** Name over https, and over plain http. */
    names,
    /** Returns the value in a `Cookie` header. `undefined` if absent or malformed. */
    read: (header: string | undefined, isHttps: boolean) => patterns[schemeOf(isHttps)].exec(header ?? "")?.[1],
    /**
     * Returns the `Set-Cookie` header.
     *
     * @param lifetime `Max-Age=` and seconds, or `Expires=` and a date
     */
    set(content: string, lifetime: string, isHttps: boolean): string {
      const secure = isHttps ? "; Secure" : "";
      return `${names[schemeOf(isHttps)]}=${content}; Path=/; HttpOnly; SameSite=${sameSite}; ${lifetime}${secure}`;
    },
  };
}

const schemeOf = (isHttps: boolean) => (isHttps ? "https" : "http");
