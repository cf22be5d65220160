import type { IncomingMessage, ServerResponse } from "node:http";
import type { Refusal } from "../../domain/refusal.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";
import { INVALID_LINKS, LINK_READS } from "../../pipeline/bounds/limits.ts";
import { readCallHeaders } from "../../pipeline/call-headers.ts";
import type { ClientAddress } from "../../pipeline/client-address.ts";
import { createFailedAttempts } from "../../pipeline/credentials/failed-attempts.ts";
import { createLookups } from "../../pipeline/credentials/lookups.ts";
import { splitUrl } from "../connect/request-target.ts";
import { entityTag, matchesTag, preferredLanguage } from "./negotiation.ts";
import { refusalHeaders } from "../../pipeline/refusals/refusal-body.ts";
import { readSmallBody } from "./read-body.ts";
import { forMethods, type HttpHandler } from "./responses.ts";
import { redirect } from "./sign-in-browser.ts";
import { beginStream, createStreamSlots } from "./tracking-stream.ts";

interface Reader<Language extends string> {
  readonly language: Language;
  readonly locale: string;
}

/** Tracking pages in several languages. The first is the default. */
export interface TrackingPages<Language extends string> {
  readonly languages: readonly Language[];
  readonly contentSecurityPolicy: string;
  /**
   * Returns the page of a link. `link` is the path after `/t/`. Returns `undefined` for an invalid link.
   *
   * @param readerOf returns the reader for the recipient's language if the browser's language is unavailable
   */
  page(link: string, readerOf: (known: string | undefined) => Reader<Language>): Promise<string | undefined>;
  /**
   * Subscribes to changes of a link's shipment. Returns `undefined` for an invalid link. The result has
   * no `stop` if the shipment will not change.
   */
  follow(link: string, changed: (isOver: boolean) => void): Promise<{ readonly stop?: () => void } | undefined>;
  /**
   * Returns the page that asks the reader to confirm unsubscribing from emails, or confirms it. Returns
   * `undefined` for an invalid link.
   */
  unsubscribe(
    request: { readonly link: string; readonly mac: string; readonly isConfirmed: boolean },
    readerOf: (known: string | undefined) => Reader<Language>,
  ): Promise<string | undefined>;
  /**
   * Opens the part of a page that only the recipient may see. The recipient enters digits, or sends the MAC of a page
   * that was opened before, and can then change the instructions for the courier. Returns a function that renders the
   * page, which may be slow, or `undefined` for an invalid link.
   */
  open(
    request: {
      readonly link: string;
      readonly digits: string;
      readonly recipientMac: string;
      readonly instructions: string | undefined;
    },
    readerOf: (known: string | undefined) => Reader<Language>,
  ): Promise<(() => Promise<string>) | undefined>;
  /** Returns the page for an invalid link, regardless of the cause. */
  missing(reader: Reader<Language>): string;
  /** Returns the page shown while the service cannot respond. */
  busy(reader: Reader<Language>): string;
}

const PREFIX = "/t/";
/**
 * Matches punctuation, plain or percent-encoded, that programs include at the end of a link in a text
 * message. No link ends with such a character.
 */
const TRAILING =
  /(?:[.,;:!)\]}>'"*~/…”’»]|%(?:2[1279C]|3[ABE]|5D|7D|C2%BB|E2%80%(?:99|9D|A6))){1,8}(?=$|\/(?:events|open|unsubscribe\/))/giu;
const EVENTS = /^([^/]+)\/events$/;
const OPEN = /^([^/]+)\/open$/;
const UNSUBSCRIBE = /^([^/]+)\/unsubscribe\/([\w-]{22})$/;

/**
 * Creates the handler of tracking links:
 * - `GET /t/{link}` returns the page.
 * - `POST /t/{link}/open` with `digits` or `recipient` opens the recipient's part, and changes the `instructions`.
 * - `GET` and `POST /t/{link}/unsubscribe/{mac}` unsubscribe from emails.
 * - `GET /t/{link}/events` streams an event whenever the page must be reloaded.
 *
 * Pages are not cached or indexed, and send no referrer. A GET has no side effects, because programs that show previews
 * also open links. Invalid links all get the same 404 and count against the caller's address. Lookups of links use a
 * separate queue, so that they do not delay lookups of API keys.
 */
export function createTracking<Language extends string>(
  pages: TrackingPages<Language>,
  options: {
    readonly clientAddress: ClientAddress;
    readonly toRefusal: (error: unknown, requestId: string) => Refusal;
    readonly shutdownSignal: AbortSignal;
  },
): HttpHandler {
  const policy = pages.contentSecurityPolicy;
  const reads = createLinkReads(options.clientAddress);
  const read = createRead(pages, reads);
  const follow = createFollow(pages, reads, options.shutdownSignal);

  return (request, response, requestId) => {
    const [path] = splitUrl(request);
    if (!path.startsWith(PREFIX)) return false;
    const rest = path.slice(PREFIX.length).replaceAll(TRAILING, "");
    const others = UNSUBSCRIBE.test(rest) || OPEN.test(rest) ? ["POST"] : [];
    return forMethods(request, response, { requestId, others }, () => {
      const accepted = request.headers["accept-language"] ?? "";
      const readerOf = (known = "") => preferredLanguage(`${accepted},${known};q=0.001`, pages.languages);
      const reader = readerOf();
      const send = (status: number, text: string, headers = {}) =>
        sendPage(request, response, {
          status,
          text,
          policy,
          headers: { ...headers, "x-request-id": requestId },
        });
      const refuse = (error: unknown) => {
        const refusal = options.toRefusal(error, requestId);
        const { httpStatus } = REASONS[refusal.reason];
        send(httpStatus, pages.busy(reader), refusalHeaders(refusal));
      };
      const [, opened] = OPEN.exec(rest) ?? [];
      // A GET of a form's URL redirects to the page.
      if (opened !== undefined && request.method !== "POST") {
        return redirect(response, requestId, `${PREFIX}${opened}`, undefined);
      }
      const [, followed] = EVENTS.exec(rest) ?? [];
      const headers = { ...PRIVATE, "x-request-id": requestId };
      const handled =
        followed === undefined
          ? read(request, rest, readerOf).then((text) => text !== undefined && send(200, text))
          : follow(request, response, followed, headers);
      handled.then((isLink) => isLink === false && send(404, pages.missing(reader)), refuse);
    });
  };
}

/** Creates the lookup of a request's page. It returns `undefined` for an invalid link. */
function createRead<Language extends string>(
  pages: Omit<TrackingPages<Language>, "follow">,
  reads: ReturnType<typeof createLinkReads>,
) {
  return async (
    request: IncomingMessage,
    path: string,
    readerOf: (known?: string) => Reader<Language>,
  ): Promise<string | undefined> => {
    const isPosted = request.method === "POST";
    const find = <T>(link: string, lookup: string, page: () => Promise<T | undefined>) =>
      reads.find(reads.addressOf(request), link, lookup, page);
    const [, ended, mac = ""] = UNSUBSCRIBE.exec(path) ?? [];
    if (ended !== undefined) {
      const proof = { link: ended, mac, isConfirmed: isPosted };
      return find(ended, path, () => pages.unsubscribe(proof, readerOf));
    }
    const [, opened] = OPEN.exec(path) ?? [];
    if (opened === undefined) return find(path, path, () => pages.page(path, readerOf));
    const fields = await readFields(request);
    const digits = fields.get("digits")?.trim() ?? "";
    const recipientMac = fields.get("recipient") ?? "";
    const instructions = fields.get("instructions") ?? undefined;
    const open = () => pages.open({ link: opened, digits, recipientMac, instructions }, readerOf);
    // The page is rendered after the lookup slot was released.
    return (await find(opened, opened, open))?.();
  };
}

/** Maximum size of a form: 500 characters of instructions take up to 12 bytes each. */
const FORM_BYTES = 8 * 1024;

/**
 * Reads the fields of a form.
 *
 * @throws Refusal BODY_TOO_LARGE
 */
async function readFields(request: IncomingMessage): Promise<URLSearchParams> {
  const body = await readSmallBody(request, readCallHeaders(request.rawHeaders), FORM_BYTES);
  return new URLSearchParams(body.toString("utf8"));
}

/** Creates the limits of link lookups. Neither guessed links nor many readers of one link block other readers. */
function createLinkReads(clientAddress: ClientAddress) {
  const lookups = createLookups();
  const attempts = createFailedAttempts(INVALID_LINKS, "Too many invalid links from this address");
  const reads = createFailedAttempts(LINK_READS, "Too many requests for this page");
  return {
    addressOf(request: IncomingMessage): string {
      const { forwardedFor } = readCallHeaders(request.rawHeaders);
      return clientAddress(request.socket.remoteAddress, forwardedFor);
    },
    async find<T>(
      address: string,
      link: string,
      path: string,
      find: () => Promise<T | undefined>,
    ): Promise<T | undefined> {
      await reads.make(link, async () => undefined);
      return lookups.find(path, { attempts, address, find });
    },
  };
}

/** Creates the handler that streams changes. For an invalid link it sends no response and returns false. */
function createFollow<Language extends string>(
  pages: Pick<TrackingPages<Language>, "follow">,
  reads: ReturnType<typeof createLinkReads>,
  signal: AbortSignal,
) {
  const takeSlot = createStreamSlots();
  return async (
    request: IncomingMessage,
    response: ServerResponse,
    link: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<boolean> => {
    const address = reads.addressOf(request);
    response.once("close", takeSlot(link, address));
    let notify: ((isOver: boolean) => void) | undefined;
    const find = () => pages.follow(link, (isOver) => notify?.(isOver));
    const followed = await reads.find(address, link, link, find);
    if (followed === undefined) return false;
    const { stop } = followed;
    if (response.destroyed) stop?.();
    // Status 204 stops browsers from reconnecting.
    else if (stop === undefined) response.writeHead(204, headers).end();
    else notify = beginStream(response, headers, { signal, stop });
    return true;
  };
}

/** Headers that prevent caching, indexing and referrers. */
const PRIVATE = {
  "referrer-policy": "no-referrer",
  "x-robots-tag": "noindex, nofollow",
  "cache-control": "private, no-store",
};

interface Page {
  readonly status: number;
  readonly text: string;
  readonly policy: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends a page, or status 304 if it is unchanged. No-op if the caller has disconnected. */
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
    ...PRIVATE,
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
