import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Refusal } from "../../domain/refusal.ts";
import { TRACKING_MISSES } from "../../pipeline/bounds/limits.ts";
import { readCallHeaders } from "../../pipeline/call-headers.ts";
import type { ClientAddress } from "../../pipeline/client-address.ts";
import { createFailedAttempts } from "../../pipeline/credentials/failed-attempts.ts";
import type { LookUps } from "../../pipeline/credentials/look-ups.ts";
import { splitUrl } from "../connect/request-target.ts";
import { matchesTag, preferredLanguage } from "./negotiation.ts";
import { forReading, sendRefusal, type HttpHandler } from "./responses.ts";

/** The pages at tracking links, in the languages that they come in; the first is for readers of none. */
export interface TrackingPages<Language extends string = string> {
  readonly languages: readonly Language[];
  readonly contentSecurityPolicy: string;
  /** The page of a link, which is the part of the path behind `/t/`; undefined for what is none. */
  page(link: string, language: Language): Promise<string | undefined>;
  /** What is there instead, whatever is wrong. */
  missing(language: Language): string;
}

const PREFIX = "/t/";

/**
 * Builds the answers to `GET /t/{link}`: a page that nobody keeps, lists or tells other sites of. Reading it has no effect,
 * as programs that show previews open links too. What is no link is the same 404 each time, and counts against the address
 * that asks.
 */
export function createTracking<Language extends string>(
  pages: TrackingPages<Language>,
  options: {
    readonly clientAddress: ClientAddress;
    readonly lookUps: Pick<LookUps, "find">;
    readonly toRefusal: (error: unknown, requestId: string) => Refusal;
  },
): HttpHandler {
  const { clientAddress, lookUps, toRefusal } = options;
  const policy = pages.contentSecurityPolicy;
  const attempts = createFailedAttempts(
    () => performance.now(),
    TRACKING_MISSES,
    "Too many tracking links that are none came from this address",
  );
  return (request, response, requestId) => {
    const [path] = splitUrl(request);
    if (!path.startsWith(PREFIX)) return false;
    return forReading(request, response, requestId, () => {
      const { forwardedFor } = readCallHeaders(request.rawHeaders);
      const link = path.slice(PREFIX.length);
      const language = preferredLanguage(request.headers["accept-language"] ?? "", pages.languages);
      lookUps
        .find(link, {
          attempts,
          address: clientAddress(request.socket.remoteAddress, forwardedFor),
          find: () => pages.page(link, language),
        })
        .then(
          (text) =>
            sendPage(request, response, {
              status: text === undefined ? 404 : 200,
              text: text ?? pages.missing(language),
              policy,
              requestId,
            }),
          (error: unknown) => sendRefusal(response, requestId, toRefusal(error, requestId)),
        );
    });
  };
}

interface Page {
  readonly status: number;
  readonly text: string;
  readonly policy: string;
  readonly requestId: string;
}

/** Sends a page, or that it has not changed. Does nothing if the caller has gone. */
function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text, policy, requestId }: Page,
): void {
  if (response.headersSent || response.destroyed) return;
  const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex, nofollow",
    "cache-control": "private, no-store",
    vary: "Accept-Language",
    etag,
    "x-request-id": requestId,
  };
  if (status === 200 && matchesTag(request.headers["if-none-match"], etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  const body = Buffer.from(text);
  response.writeHead(status, { ...headers, "content-length": body.length }).end(body);
}
