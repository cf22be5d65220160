import type { IncomingMessage, ServerResponse } from "node:http";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { assertSameSite } from "../../pipeline/assert-same-site.ts";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import { errorBody } from "../../pipeline/error-body.ts";
import { refusalHeaders } from "../../pipeline/refusal-headers.ts";
import { REFUSAL_STATUS } from "../../pipeline/refusal-status.ts";
import { SESSION_COOKIES } from "../../pipeline/session-cookie.ts";
import { createUnknownKeys, type UnknownKeys } from "../../pipeline/unknown-keys.ts";
import { readBody } from "./read-body.ts";
import { sendJson } from "./send-json.ts";

/** How people sign in, whatever keeps their sessions. */
export interface SignIn {
  /**
   * Uses up the token of a sign-in link.
   *
   * @returns the token of a new session; undefined when no link has this token
   */
  byLink(token: string, userAgent: string): Promise<string | undefined>;
  /** Ends a session. */
  signOut(session: string): Promise<void>;
}

/** Answers what browsers send to sign in and out, if that is what the request is. */
export type SignInPages = (request: IncomingMessage, response: ServerResponse) => boolean;

/** How long a cookie is kept by the browser, in seconds: as long as a session can last, 7 days. */
const COOKIE_SECONDS = 7 * 24 * 60 * 60;

/** How often an address may try tokens. */
const ATTEMPTS = { rate: 1, burst: 20 };

/**
 * Builds the answers to the forms of the dashboard: `POST /sign-in` with the token of a link begins a
 * session, `POST /sign-out` ends it. Both lead on to a page. What is answered to a token that does not
 * work does not tell why.
 *
 * @param isHttps whether browsers reach the service over https
 * @param refusalFor the refusal that an error stands for
 */
export function createSignInPages(options: {
  readonly signIn: SignIn;
  readonly isHttps: boolean;
  readonly refusalFor: (error: unknown, requestId: string) => Refusal;
}): SignInPages {
  const { signIn, isHttps, refusalFor } = options;
  const attempts = createUnknownKeys(() => performance.now(), ATTEMPTS);
  const forms: Readonly<Record<string, (form: Form) => Promise<Answer>>> = {
    "/sign-in": (form) => enter(signIn, attempts, form),
    "/sign-out": (form) => leave(signIn, form),
  };
  return (request, response) => {
    const path = (request.url ?? "").replace(/\?.*/s, "");
    if (request.method !== "POST" || !Object.hasOwn(forms, path)) return false;
    const headers = readCallHeaders(request.rawHeaders);
    const failed = (error: unknown) =>
      sendRefusal(response, headers.requestId, refusalFor(error, headers.requestId));
    const answer = async (body: Buffer) => {
      const { session, leadsTo } = await forms[path]!(readForm(request, headers, body));
      redirect(response, headers.requestId, leadsTo, cookie(session, isHttps));
    };
    try {
      assertSameSite(headers);
      readBody(request, headers, (body) => void answer(body).catch(failed), failed);
    } catch (error) {
      failed(error);
    }
    return true;
  };
}

/** A form as a browser sent it. */
interface Form {
  readonly headers: CallHeaders;
  readonly fields: URLSearchParams;
  readonly address: string;
  readonly userAgent: string;
}

/** What comes of a form: the session that the browser has from now on, and the page it goes to. */
interface Answer {
  /** Undefined for none. */
  readonly session: string | undefined;
  readonly leadsTo: string;
}

async function enter(signIn: SignIn, attempts: UnknownKeys, form: Form): Promise<Answer> {
  attempts.assertFew(form.address);
  const token = form.fields.get("token") ?? "";
  const session = await signIn.byLink(token, form.userAgent);
  if (session !== undefined) return { session, leadsTo: ownPath(form.fields.get("return_to")) };
  attempts.count(form.address);
  const text =
    "This link does not work: it was used, is older than 15 minutes, or is not complete.";
  throw refuse("SIGN_IN_REFUSED", text, { subject: "token" });
}

async function leave(signIn: SignIn, { headers }: Form): Promise<Answer> {
  if (headers.session !== undefined) await signIn.signOut(headers.session);
  return { session: undefined, leadsTo: "/sign-in" };
}

function readForm(request: IncomingMessage, headers: CallHeaders, body: Buffer): Form {
  return {
    headers,
    fields: new URLSearchParams(body.toString("utf8")),
    address: request.socket.remoteAddress ?? "",
    userAgent: request.headers["user-agent"] ?? "",
  };
}

/** The path of a page of this site; the first page when it is none. */
function ownPath(path: string | null): string {
  return path !== null && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : "/";
}

function cookie(session: string | undefined, isHttps: boolean): string {
  const name = isHttps ? SESSION_COOKIES.https : SESSION_COOKIES.http;
  const maxAge = session === undefined ? 0 : COOKIE_SECONDS;
  const secure = isHttps ? "; Secure" : "";
  return `${name}=${session ?? ""}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure}`;
}

function redirect(
  response: ServerResponse,
  requestId: string,
  location: string,
  setCookie: string,
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(303, {
    location,
    "set-cookie": setCookie,
    "cache-control": "no-store",
    "content-length": 0,
    "x-request-id": requestId,
  });
  response.end();
}

function sendRefusal(response: ServerResponse, requestId: string, refusal: Refusal): void {
  const { httpStatus } = REFUSAL_STATUS[refusal.reason];
  const headers = Object.entries(refusalHeaders(refusal)).flat();
  sendJson(response, httpStatus, requestId, errorBody(refusal), headers);
}
