import type { Refusal } from "../../domain/refusal.ts";
import { refuse } from "../../domain/refusal.ts";
import { INVALID_LINKS } from "../../pipeline/bounds/limits.ts";
import { readCallHeaders } from "../../pipeline/call-headers.ts";
import type { ClientAddress } from "../../pipeline/client-address.ts";
import { createFailedAttempts } from "../../pipeline/credentials/failed-attempts.ts";
import type { Lookups } from "../../pipeline/credentials/lookups.ts";
import { assertSameSite, COURIER_COOKIE } from "../../pipeline/credentials/session-cookie.ts";
import { splitUrl } from "../connect/request-target.ts";
import { parseBody, readSmallBody } from "./read-body.ts";
import { type HttpHandler, sendJson, sendRefusal } from "./responses.ts";
import { readBrowser, type Browser } from "./sign-in-browser.ts";

/** Starts a session with the token of a courier's link. Returns `undefined` for an invalid token. */
export type OpenCourierLink = (
  token: string,
  browser: Browser,
) => Promise<{ readonly session: string; readonly expiresAt: Date; readonly shown: object } | undefined>;

const PATH = "/c/session";
const MAX_BODY_BYTES = 4_096;

/**
 * Creates the handler of `POST /c/session`, which exchanges the token of a courier's link for a session cookie. The
 * token is the field `token` of a JSON body. Invalid links all get the same refusal and count against the caller's
 * address.
 */
export function createCourierSessions(options: {
  readonly open: OpenCourierLink;
  readonly isHttps: boolean;
  readonly clientAddress: ClientAddress;
  readonly lookups: Lookups;
  readonly toRefusal: (error: unknown, requestId: string) => Refusal;
}): HttpHandler {
  const { open, isHttps, clientAddress, lookups, toRefusal } = options;
  const attempts = createFailedAttempts(INVALID_LINKS, "Too many invalid links from this address");
  return (request, response) => {
    const [path] = splitUrl(request);
    if (request.method !== "POST" || path !== PATH) return false;
    const headers = readCallHeaders(request.rawHeaders);
    const { requestId } = headers;
    const failed = (error: unknown) => sendRefusal(response, requestId, toRefusal(error, requestId));
    const exchange = async () => {
      assertSameSite(headers, isHttps);
      const body = await readSmallBody(request, headers, MAX_BODY_BYTES);
      const { token } = parseBody(body, headers, false) as { readonly token?: unknown };
      if (typeof token !== "string") throw refuse("COURIER_LINK_INVALID");
      const browser = readBrowser(request, headers, isHttps, COURIER_COOKIE);
      const address = clientAddress(request.socket.remoteAddress, headers.forwardedFor);
      const opened = await lookups.find(token, { attempts, address, find: () => open(token, browser) });
      if (opened === undefined) throw refuse("COURIER_LINK_INVALID");
      lookups.trust(opened.session);
      const { expiresAt, shown } = opened;
      const cookie = COURIER_COOKIE.set(opened.session, `Expires=${expiresAt.toUTCString()}`, isHttps);
      sendJson(response, 200, requestId, { ...shown, expires_at: expiresAt.toISOString() }, ["set-cookie", cookie]);
    };
    exchange().catch(failed);
    return true;
  };
}
