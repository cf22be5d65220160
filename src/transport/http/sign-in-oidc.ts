import type { IncomingMessage, ServerResponse } from "node:http";
import type { ClientAddress } from "../../pipeline/client-address.ts";
import { escapeHtml } from "../../domain/escape-html.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import { refusalHeaders } from "../../pipeline/refusals/refusal-body.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";
import type { FailedAttempts } from "../../pipeline/credentials/failed-attempts.ts";
import { createTurns, type LookUps, type Turns } from "../../pipeline/credentials/look-ups.ts";
import { splitUrl } from "../connect/request-target.ts";
import { page, PAGE_HEADERS } from "./browser-page.ts";
import { prefersPage } from "./negotiation.ts";
import { sendJson, sendRefusal } from "./responses.ts";
import { ownPath, readBrowser, redirect, sessionCookie, type Browser } from "./sign-in-browser.ts";

export interface OidcSignIn {
  readonly name: string;
  /** For how long a browser has to keep an attempt, in seconds. */
  readonly attemptSeconds: number;
  /** Begins an attempt, which ends the browser's session when it succeeds: where to send it, and what it has to bring back. */
  begin(
    returnTo: string,
    session: string | undefined,
  ): Promise<{ readonly url: string; readonly attempt: string }>;
  /** Ends an attempt, by the query that the provider sent the browser with; undefined when nobody with an account came. */
  finish(
    query: string,
    attempt: string | undefined,
    browser: Browser,
  ): Promise<{ readonly session: string; readonly returnTo: string } | undefined>;
}

/** How many sign-ins end at the same time: the provider is asked in each. */
const MAX_AT_ONCE = 16;

interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: string;
  readonly headers: CallHeaders;
}

export interface GrpcAddress {
  /** As callers see it; null where nobody said so, and then it is the port on the host of the pages. */
  readonly url: string | null;
  /** Null as long as it is not listened on. */
  readonly port: number | null;
}

interface OidcPagesOptions {
  readonly oidc: OidcSignIn | undefined;
  readonly sendsMails: boolean;
  readonly isHttps: boolean;
  readonly grpcAddress: () => GrpcAddress;
  readonly clientAddress: ClientAddress;
  /** Counts what was refused, with that of links. */
  readonly attempts: FailedAttempts;
  readonly lookUps: Pick<LookUps, "trust">;
  readonly toRefusal: (error: unknown, requestId: string) => Refusal;
}

/**
 * Builds the answers to browsers that sign in at an identity provider: `GET /sign-in/options` tells
 * whether there is one, whether links are sent by mail, and what else pages cannot know by themselves,
 * `GET /sign-in/oidc` leads there, and `GET /sign-in/oidc/callback`, to where the provider sends them
 * back, begins a session. Whoever is refused reads the same, whatever the reason, so that nothing tells
 * whether there is an account.
 */
export function createOidcPages(
  options: OidcPagesOptions,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const { oidc, isHttps, toRefusal } = options;
  const inTurn = createTurns(MAX_AT_ONCE);
  const pages: Readonly<Record<string, (visit: Visit) => void | Promise<void>>> = {
    "/sign-in/options": ({ response, headers }) =>
      sendJson(response, 200, headers.requestId, {
        oidc: oidc === undefined ? null : { name: oidc.name },
        mail: options.sendsMails,
        grpc: options.grpcAddress(),
      }),
    ...(oidc === undefined
      ? {}
      : {
          "/sign-in/oidc": (visit) => begin(oidc, isHttps, visit),
          "/sign-in/oidc/callback": (visit) => finish(oidc, { ...options, inTurn }, visit),
        }),
  };
  const answer = async (visit: Visit, path: string) => {
    try {
      await pages[path]!(visit);
    } catch (error) {
      showRefusal(visit, toRefusal(error, visit.headers.requestId), isHttps);
    }
  };
  return (request, response) => {
    const [path, query] = splitUrl(request);
    if (request.method !== "GET" || !Object.hasOwn(pages, path)) return false;
    const headers = readCallHeaders(request.rawHeaders);
    void answer({ request, response, query, headers }, path);
    return true;
  };
}

async function begin(oidc: OidcSignIn, isHttps: boolean, visit: Visit): Promise<void> {
  const returnTo = ownPath(new URLSearchParams(visit.query).get("return_to"));
  const { session } = readBrowser(visit.request, visit.headers, isHttps);
  const { url, attempt } = await oidc.begin(returnTo, session);
  const setCookie = attemptCookie(attempt, oidc.attemptSeconds, isHttps);
  redirect(visit.response, visit.headers.requestId, url, setCookie);
}

async function finish(
  oidc: OidcSignIn,
  options: OidcPagesOptions & { readonly inTurn: Turns },
  visit: Visit,
): Promise<void> {
  const { attempts, lookUps, isHttps, clientAddress, inTurn } = options;
  const { request, query, headers } = visit;
  const address = clientAddress(request.socket.remoteAddress, headers.forwardedFor);
  const attempt = readAttempt(headers.cookie, isHttps);
  const browser = readBrowser(request, headers, isHttps);
  const signedIn = await attempts.make(address, () =>
    inTurn(() => oidc.finish(query, attempt, browser)),
  );
  if (signedIn === undefined) {
    const text =
      "You could not be signed in. Try again, or ask an admin of your workspace for a link.";
    throw refuse("SIGN_IN_REFUSED", text);
  }
  lookUps.trust(signedIn.session);
  goOn(visit, signedIn.returnTo, sessionCookie(signedIn.session, isHttps), isHttps);
}

/**
 * Goes on to a page by a page, not by a redirect: the browser still follows the provider's redirect,
 * from another site, and on that way sends no cookie that is `SameSite=Strict`, so that the page would
 * not find the session. What a page of this site leads to gets the cookie.
 */
function goOn(visit: Visit, path: string, session: string, isHttps: boolean): void {
  const target = escapeHtml(path);
  const title = "You are signed in";
  const refresh = `<meta http-equiv="refresh" content="0; url=${target}">`;
  showPage(visit, 200, page(title, `<p><a href="${target}">Go on</a></p>`, refresh), {
    "set-cookie": [session, attemptCookie("", 0, isHttps)],
  });
}

/** An attempt that was refused is over: the browser drops it. */
function showRefusal(visit: Visit, refusal: Refusal, isHttps: boolean): void {
  const { request, response, headers } = visit;
  if (response.headersSent || response.destroyed) return;
  const dropAttempt = attemptCookie("", 0, isHttps);
  if (!prefersPage(request)) {
    response.setHeader("set-cookie", dropAttempt);
    return sendRefusal(response, headers.requestId, refusal);
  }
  const content = `<p>${escapeHtml(refusal.message)}</p>\n<p><a href="/sign-in">Sign in</a></p>`;
  showPage(visit, REASONS[refusal.reason].httpStatus, page("Sign in", content), {
    ...refusalHeaders(refusal),
    "set-cookie": dropAttempt,
  });
}

function showPage(
  { response, headers: { requestId } }: Visit,
  status: number,
  content: Buffer,
  extraHeaders: Readonly<Record<string, string | string[]>>,
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    ...PAGE_HEADERS,
    ...extraHeaders,
    "cache-control": "no-store",
    "content-length": content.length,
    "x-request-id": requestId,
  });
  response.end(content);
}

/** The cookie that holds an attempt; over https with the prefix, as that of a session. */
const ATTEMPT_COOKIES = { https: "__Host-oidc", http: "oidc" } as const;
const ATTEMPTS = {
  https: /(?:^|;)\s*__Host-oidc=([A-Za-z0-9_-]+)\s*(?:;|$)/,
  http: /(?:^|;)\s*oidc=([A-Za-z0-9_-]+)\s*(?:;|$)/,
} as const;

/**
 * The `Set-Cookie` header of an attempt. It is Lax, since it has to come along when the provider,
 * another site, sends the browser back.
 */
function attemptCookie(attempt: string, maxAge: number, isHttps: boolean): string {
  const name = ATTEMPT_COOKIES[isHttps ? "https" : "http"];
  const secure = isHttps ? "; Secure" : "";
  return `${name}=${attempt}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${secure}`;
}

function readAttempt(cookie: string | undefined, isHttps: boolean): string | undefined {
  return ATTEMPTS[isHttps ? "https" : "http"].exec(cookie ?? "")?.[1];
}
