import type { IncomingMessage, ServerResponse } from "node:http";
import type { Refusal } from "../../domain/refusal.ts";
import type { RateLimit } from "../../domain/rate-limit.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";
import { INVALID_LINKS, LINK_READS } from "../../pipeline/bounds/limits.ts";
import { readCallHeaders } from "../../pipeline/call-headers.ts";
import type { ClientAddress } from "../../pipeline/client-address.ts";
import { createFailedAttempts } from "../../pipeline/credentials/failed-attempts.ts";
import { createLookUps } from "../../pipeline/credentials/look-ups.ts";
import { splitUrl } from "../connect/request-target.ts";
import { entityTag, matchesTag, preferredLanguage } from "./negotiation.ts";
import { refusalHeaders } from "../../pipeline/refusals/refusal-body.ts";
import { forMethods, type HttpHandler } from "./responses.ts";

/** Who reads a page: the language that it is in, and the tag by which dates are written. */
interface Reader<Language extends string> {
  readonly language: Language;
  readonly locale: string;
}

/** The pages at tracking links, in the languages that they come in; the first is for readers of none. */
export interface TrackingPages<Language extends string> {
  readonly languages: readonly Language[];
  readonly contentSecurityPolicy: string;
  /**
   * The page of a link, which is the part of the path behind `/t/`; undefined for an invalid one.
   *
   * @param readerOf who reads it, by the language that the sender knows of, where the browser's is none of these
   */
  page(
    link: string,
    readerOf: (known: string | undefined) => Reader<Language>,
  ): Promise<string | undefined>;
  /**
   * The page that asks whether to end mails about shipments, or says that it is done once it is confirmed; undefined
   * for what is no link of such a mail.
   */
  unsubscribe(
    asked: { readonly link: string; readonly mac: string; readonly isConfirmed: boolean },
    readerOf: (known: string | undefined) => Reader<Language>,
  ): Promise<string | undefined>;
  /** What is there instead, whatever is wrong. */
  missing(reader: Reader<Language>): string;
  /** What is told while the service cannot answer. */
  busy(reader: Reader<Language>): string;
}

const PREFIX = "/t/";
const UNSUBSCRIBE = /^([^/]+)\/unsubscribe\/([\w-]{22})$/;

/**
 * Builds the answers to `GET /t/{link}`, and to `GET` and `POST /t/{link}/unsubscribe/{mac}`, of which the second alone
 * has an effect: a page that nobody keeps, lists or tells other sites of. Reading it has no effect,
 * as programs that show previews open links too. An invalid link is the same 404 each time, and counts against the address
 * that asks. Reads have turns of their own, so that recipients keep no callers from being looked up.
 */
export function createTracking<Language extends string>(
  pages: TrackingPages<Language>,
  options: {
    readonly clientAddress: ClientAddress;
    readonly toRefusal: (error: unknown, requestId: string) => Refusal;
  },
): HttpHandler {
  const policy = pages.contentSecurityPolicy;
  const lookUps = createLookUps();
  const attempts = failedAttempts(INVALID_LINKS, "Too many invalid links came from this address");
  const reads = failedAttempts(LINK_READS, "The page is read too often");

  async function read(
    request: IncomingMessage,
    path: string,
    readerOf: (known?: string) => Reader<Language>,
  ) {
    const [, link = path, mac] = UNSUBSCRIBE.exec(path) ?? [];
    const isConfirmed = request.method === "POST";
    const { forwardedFor } = readCallHeaders(request.rawHeaders);
    const address = options.clientAddress(request.socket.remoteAddress, forwardedFor);
    const page = () =>
      mac === undefined
        ? pages.page(link, readerOf)
        : pages.unsubscribe({ link, mac, isConfirmed }, readerOf);
    await reads.make(link, async () => undefined);
    return lookUps.find(path, { attempts, address, find: page });
  }

  return (request, response, requestId) => {
    const [path] = splitUrl(request);
    if (!path.startsWith(PREFIX)) return false;
    const rest = path.slice(PREFIX.length);
    const others = UNSUBSCRIBE.test(rest) ? ["POST"] : [];
    return forMethods(request, response, { requestId, others }, () => {
      const accepted = request.headers["accept-language"] ?? "";
      const readerOf = (known = "") =>
        preferredLanguage(`${accepted},${known};q=0.001`, pages.languages);
      const reader = readerOf();
      const send = (status: number, text: string, headers = {}) =>
        sendPage(request, response, {
          status,
          text,
          policy,
          headers: { ...headers, "x-request-id": requestId },
        });
      read(request, rest, readerOf).then(
        (text) => send(text === undefined ? 404 : 200, text ?? pages.missing(reader)),
        (error: unknown) => {
          const refusal = options.toRefusal(error, requestId);
          const { httpStatus } = REASONS[refusal.reason];
          send(httpStatus, pages.busy(reader), refusalHeaders(refusal));
        },
      );
    });
  };
}

const failedAttempts = (limit: RateLimit, tooMany: string) =>
  createFailedAttempts(() => performance.now(), limit, tooMany);

interface Page {
  readonly status: number;
  readonly text: string;
  readonly policy: string;
  /** Besides those of every page. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends a page, or that it has not changed. Does nothing if the caller has gone. */
function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text, policy, headers: own }: Page,
): void {
  if (response.headersSent || response.destroyed) return;
  const etag = entityTag(text);
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex, nofollow",
    "cache-control": "private, no-store",
    vary: "Accept-Language",
    etag,
    ...own,
  };
  if (status === 200 && matchesTag(request.headers["if-none-match"], etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  const body = Buffer.from(text);
  response.writeHead(status, { ...headers, "content-length": body.length }).end(body);
}
