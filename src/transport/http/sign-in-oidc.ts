import type { IncomingMessage, ServerResponse } from "node:http";
import type { ClientAddress } from "../../pipeline/client-address.ts";
import { escapeHtml } from "../../domain/escape-html.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import { refusalHeaders } from "../../pipeline/refusals/refusal-body.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";
import type { FailedAttempts } from "../../pipeline/credentials/failed-attempts.ts";
import { createSiteCookie } from "../../pipeline/credentials/site-cookie.ts";
import { createTurns, type Lookups, type Turns } from "../../pipeline/credentials/lookups.ts";
import { splitUrl } from "../connect/request-target.ts";
import { page, sendHtml } from "./browser-page.ts";
import { prefersPage } from "./negotiation.ts";
import { sendJson, sendRefusal } from "./responses.ts";
import { ownPath, readBrowser, redirect, sessionCookie, type Browser } from "./sign-in-browser.ts";

export interface OidcSignIn {
  readonly name: string;
  /** Lifetime of an attempt in the browser, in seconds. */
  readonly attemptSeconds: number;
  /**
   * Starts an attempt. Returns the redirect and the state that the browser must return. If the sign-in
   * succeeds, the browser's previous session ends.
   */
  begin(returnTo: string, session: string | undefined): Promise<{ readonly url: string; readonly attempt: string }>;
  /**
   * Completes an attempt with the query of the provider's redirect. Returns `undefined` if the person has no account.
   */
  finish(
    query: string,
    attempt: string | undefined,
    browser: Browser,
  ): Promise<{ readonly session: string; readonly returnTo: string } | undefined>;
}

/** Maximum number of concurrent sign-ins. Each sends requests to the provider. */
const CONCURRENCY = 16;

interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: string;
  readonly headers: CallHeaders;
}

export interface GrpcAddress {
  /** Public URL. null if not configured. Clients then use `port` on the host of the page. */
  readonly url: string | null;
  /** null until the server listens. */
  readonly port: number | null;
}

interface OidcPagesOptions {
  readonly oidc: OidcSignIn | undefined;
  readonly sendsMails: boolean;
  readonly isHttps: boolean;
  readonly grpcAddress: () => GrpcAddress;
  readonly clientAddress: ClientAddress;
  /** Counter of failed attempts, shared with sign-in links. */
  readonly attempts: FailedAttempts;
  readonly lookups: Pick<Lookups, "trust">;
  readonly toRefusal: (error: unknown, requestId: string) => Refusal;
}

/**
 * Creates the handlers of sign-in with an identity provider. `GET /sign-in/options` returns the available
 * sign-in methods and other settings for the pages, `GET /sign-in/oidc` redirects to the provider, and `GET
 * /sign-in/oidc/callback` starts a session. All refusals look the same, so that they do not reveal accounts.
 */
export function createOidcPages(
  options: OidcPagesOptions,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const { oidc, isHttps, toRefusal } = options;
  const inTurn = createTurns(CONCURRENCY);
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
  const setCookie = ATTEMPT_COOKIE.set(attempt, `Max-Age=${oidc.attemptSeconds}`, isHttps);
  redirect(visit.response, visit.headers.requestId, url, setCookie);
}

async function finish(
  oidc: OidcSignIn,
  options: OidcPagesOptions & { readonly inTurn: Turns },
  visit: Visit,
): Promise<void> {
  const { attempts, lookups, isHttps, clientAddress, inTurn } = options;
  const { request, query, headers } = visit;
  const address = clientAddress(request.socket.remoteAddress, headers.forwardedFor);
  const attempt = ATTEMPT_COOKIE.read(headers.cookie, isHttps);
  const browser = readBrowser(request, headers, isHttps);
  const signedIn = await attempts.make(address, () => inTurn(() => oidc.finish(query, attempt, browser)));
  if (signedIn === undefined) {
    const text = "Sign-in failed. Try again, or ask an admin of your workspace for a link.";
    throw refuse("SIGN_IN_REFUSED", text);
  }
  lookups.trust(signedIn.session);
  continueTo(visit, signedIn.returnTo, sessionCookie(signedIn.session, isHttps), isHttps);
}

/**
 * Continues with a page instead of a redirect. After a redirect from another site, browsers do not send a
 * `SameSite=Strict` cookie, so the target would not receive the session.
 */
function continueTo(visit: Visit, path: string, session: string, isHttps: boolean): void {
  const target = escapeHtml(path);
  const title = "You are signed in";
  const refresh = `<meta http-equiv="refresh" content="0; url=${target}">`;
  const body = page(title, `<p><a href="${target}">Continue</a></p>`, refresh);
  sendHtml(
    visit.response,
    visit.headers.requestId,
    { status: 200, body },
    {
      "set-cookie": [session, ATTEMPT_COOKIE.set("", "Max-Age=0", isHttps)],
      "cache-control": "no-store",
    },
  );
}

/** Shows a refusal and deletes the cookie of the attempt, because a refused attempt cannot be completed. */
function showRefusal(visit: Visit, refusal: Refusal, isHttps: boolean): void {
  const { request, response, headers } = visit;
  if (response.headersSent || response.destroyed) return;
  const dropAttempt = ATTEMPT_COOKIE.set("", "Max-Age=0", isHttps);
  if (!prefersPage(request)) {
    response.setHeader("set-cookie", dropAttempt);
    return sendRefusal(response, headers.requestId, refusal);
  }
  const content = `<p>${escapeHtml(refusal.message)}</p>\n<p><a href="/sign-in">Sign in</a></p>`;
  const shown = { status: REASONS[refusal.reason].httpStatus, body: page("Sign in", content) };
  sendHtml(response, headers.requestId, shown, {
    ...refusalHeaders(refusal),
    "set-cookie": dropAttempt,
    "cache-control": "no-store",
  });
}

/** Cookie of an attempt. It is Lax, because the browser must send it on the redirect from the provider's site. */
const ATTEMPT_COOKIE = createSiteCookie("oidc", "[A-Za-z0-9_-]+", "Lax");
