import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallHeaders } from "../../pipeline/call-headers.ts";
import { SESSION_COOKIE } from "../../pipeline/credentials/session-cookie.ts";

/** Lifetime of the cookie in seconds: the maximum lifetime of a session, 7 days. */
const SESSION_SECONDS = 7 * 24 * 60 * 60;

export interface Browser {
  readonly userAgent: string;
  readonly session: string | undefined;
  readonly requestId: string;
}

/** @param ofSession cookie of the browser's current session */
export function readBrowser(
  { headers }: IncomingMessage,
  { cookie, requestId }: CallHeaders,
  isHttps: boolean,
  ofSession = SESSION_COOKIE,
): Browser {
  const session = ofSession.read(cookie, isHttps);
  return { userAgent: headers["user-agent"] ?? "", session, requestId };
}

/** Returns the path if it is on this site. Otherwise returns `/`. */
export function ownPath(path: string | null): string {
  return path !== null && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : "/";
}

/** Returns the `Set-Cookie` header of a session. `session` is undefined to delete the cookie. */
export function sessionCookie(session: string | undefined, isHttps: boolean): string {
  return SESSION_COOKIE.set(session ?? "", `Max-Age=${session === undefined ? 0 : SESSION_SECONDS}`, isHttps);
}

/** Redirects a browser with GET, optionally with a cookie. No-op if the caller has disconnected. */
export function redirect(
  response: ServerResponse,
  requestId: string,
  location: string,
  setCookie: string | undefined,
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(303, {
    location,
    ...(setCookie === undefined ? {} : { "set-cookie": setCookie }),
    "cache-control": "no-store",
    "content-length": 0,
    "x-request-id": requestId,
  });
  response.end();
}
