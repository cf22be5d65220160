import type { IncomingMessage, ServerResponse } from "node:http";
import type { ClientAddress } from "../../domain/client-address.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { assertSameSite } from "../../pipeline/assert-same-site.ts";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import { createFailedAttempts, type FailedAttempts } from "../../pipeline/failed-attempts.ts";
import { readBody } from "./read-body.ts";
import { sendRefusal } from "./send-refusal.ts";
import { ownPath, redirect, sessionCookie } from "./sign-in-answers.ts";
import { createOidcPages, type OidcSignIn } from "./sign-in-oidc.ts";

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
  /** By an identity provider; undefined when none is configured. */
  readonly oidc: OidcSignIn | undefined;
}

/** Answers what browsers send to sign in and out, if that is what the request is. */
export type SignInPages = (request: IncomingMessage, response: ServerResponse) => boolean;

/** A form is small, so that nothing has to be reserved for it. */
const FORM_BOUNDS = { maxBytes: 4_096, reserve: () => undefined };

/** How often an address may fail to sign in, by links and a provider together. */
const ATTEMPTS = { rate: 1, burst: 20 };

/**
 * Builds the answers to the forms of the dashboard: `POST /sign-in` with the token of a link begins a
 * session, `POST /sign-out` ends it. Both lead on to a page. What is answered to a token that does not
 * work does not tell why. `createOidcPages` has the answers for signing in at a provider.
 *
 * @param isHttps whether browsers reach the service over https
 * @param refusalFor the refusal that an error stands for
 */
export function createSignInPages(options: {
  readonly signIn: SignIn;
  readonly isHttps: boolean;
  readonly clientAddress: ClientAddress;
  readonly refusalFor: (error: unknown, requestId: string) => Refusal;
}): SignInPages {
  const { signIn, isHttps, clientAddress, refusalFor } = options;
  const attempts = createFailedAttempts(() => performance.now(), ATTEMPTS, "attempts to sign in");
  const forms: Readonly<Record<string, (form: Form) => Promise<Answer>>> = {
    "/sign-in": (form) => enter(signIn, attempts, form),
    "/sign-out": (form) => leave(signIn, form),
  };
  const oidcPages = createOidcPages({ ...options, oidc: signIn.oidc, attempts });
  return (request, response) => {
    if (oidcPages(request, response)) return true;
    const path = (request.url ?? "").replace(/\?.*/s, "");
    if (request.method !== "POST" || !Object.hasOwn(forms, path)) return false;
    const headers = readCallHeaders(request.rawHeaders);
    const failed = (error: unknown) =>
      sendRefusal(response, headers.requestId, refusalFor(error, headers.requestId));
    const answer = async (body: Buffer) => {
      const { session, leadsTo } = await forms[path]!(
        readForm(request, headers, body, clientAddress),
      );
      redirect(response, headers.requestId, leadsTo, sessionCookie(session, isHttps));
    };
    try {
      assertSameSite(headers);
      readBody(request, headers, FORM_BOUNDS, (body) => void answer(body).catch(failed), failed);
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

async function enter(signIn: SignIn, attempts: FailedAttempts, form: Form): Promise<Answer> {
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

function readForm(
  request: IncomingMessage,
  headers: CallHeaders,
  body: Buffer,
  clientAddress: ClientAddress,
): Form {
  return {
    headers,
    fields: new URLSearchParams(body.toString("utf8")),
    address: clientAddress(request.socket.remoteAddress, headers.forwardedFor),
    userAgent: request.headers["user-agent"] ?? "",
  };
}
