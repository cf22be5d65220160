import type { IncomingMessage } from "node:http";
import type { ClientAddress } from "../../pipeline/client-address.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { assertSameSite } from "../../pipeline/credentials/session-cookie.ts";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import {
  createFailedAttempts,
  type FailedAttempts,
} from "../../pipeline/credentials/failed-attempts.ts";
import { createTurns, type LookUps } from "../../pipeline/credentials/look-ups.ts";
import { SIGN_IN_ATTEMPTS } from "../../pipeline/bounds/limits.ts";
import { readBody } from "./read-body.ts";
import { splitUrl } from "../connect/request-target.ts";
import { sendRefusal, type HttpHandler } from "./responses.ts";
import { ownPath, readBrowser, redirect, sessionCookie, type Browser } from "./sign-in-browser.ts";
import { createOidcPages, type GrpcAddress, type OidcSignIn } from "./sign-in-oidc.ts";

/** Has a link sent to an email, if it is an account's. Tells nothing of whether it is. */
export type MailSignIn = (email: string) => Promise<void>;

export interface SignIn {
  /** Uses up the token of a sign-in link, and ends the browser's session; undefined when no link has this token. */
  byLink(token: string, browser: Browser): Promise<string | undefined>;
  signOut(session: string): Promise<true | undefined>;
  readonly oidc: OidcSignIn | undefined;
  /** By a link that is sent; undefined when no mails are. */
  readonly byMail: MailSignIn | undefined;
}

const MAX_AT_ONCE = 2;
/** What a caller can type; RFC 5321 allows 254 characters, and accounts have these letters alone. */
const EMAIL = /^[\x21-\x7e]+@[\x21-\x7e]+$/;
const MAX_EMAIL = 254;

/**
 * Builds what notes that somebody wants a link by mail. Each request counts against its address as an
 * attempt that failed, whoever it is for.
 *
 * @throws Refusal FIELD_INVALID for what is no email, RATE_LIMITED, and UNAVAILABLE
 */
function createMailRequests(
  mail: MailSignIn,
  attempts: FailedAttempts,
): (email: string, address: string) => Promise<void> {
  const inTurn = createTurns(MAX_AT_ONCE);
  return async (typed, address) => {
    const email = typed.trim();
    if (!EMAIL.test(email) || email.length > MAX_EMAIL) {
      throw refuse("FIELD_INVALID", "Type an email such as ada@example.org.", { subject: "email" });
    }
    await attempts.make(address, async () => {
      await inTurn(() => mail(email));
      return undefined;
    });
  };
}

/** A form is small, so that nothing has to be reserved for it. */
const FORM_BOUNDS = { maxBytes: 4_096, reserve: () => undefined };

/**
 * Builds the answers to the forms of the dashboard: `POST /sign-in` with the token of a link begins a
 * session, `POST /sign-out` ends it, and `POST /sign-in/mail` has a link sent to an email. They lead on
 * to a page. What is answered to a token that does not work does not tell why. `createOidcPages` has the
 * answers for signing in at a provider.
 */
export function createSignInPages(options: {
  readonly signIn: SignIn;
  readonly isHttps: boolean;
  readonly grpcAddress: () => GrpcAddress;
  readonly clientAddress: ClientAddress;
  readonly lookUps: LookUps;
  readonly toRefusal: (error: unknown, requestId: string) => Refusal;
}): HttpHandler {
  const { isHttps, toRefusal } = options;
  const attempts = createFailedAttempts(
    () => performance.now(),
    SIGN_IN_ATTEMPTS,
    "Too many attempts to sign in came from this address",
  );
  const deps = { ...options, attempts };
  const { oidc, byMail } = options.signIn;
  const forms: Readonly<Record<string, (form: Form) => Promise<Answer>>> = {
    "/sign-in": (form) => enter(deps, form),
    "/sign-out": (form) => leave(deps, form),
    ...(byMail && { "/sign-in/mail": createAskForMail(createMailRequests(byMail, attempts)) }),
  };
  const oidcPages = createOidcPages({ ...deps, oidc, sendsMails: byMail !== undefined });
  return (request, response) => {
    if (oidcPages(request, response)) return true;
    const [path] = splitUrl(request);
    if (request.method !== "POST" || !Object.hasOwn(forms, path)) return false;
    const headers = readCallHeaders(request.rawHeaders);
    const failed = (error: unknown) =>
      sendRefusal(response, headers.requestId, toRefusal(error, headers.requestId));
    const answerForm = async (body: Buffer) => {
      const form = readForm(request, headers, body, options);
      const answer = await forms[path]!(form);
      const setCookie = "session" in answer ? sessionCookie(answer.session, isHttps) : undefined;
      redirect(response, headers.requestId, answer.leadsTo, setCookie);
    };
    try {
      assertSameSite(headers, isHttps);
      readBody(
        request,
        headers,
        FORM_BOUNDS,
        (body) => void answerForm(body).catch(failed),
        failed,
      );
    } catch (error) {
      failed(error);
    }
    return true;
  };
}

interface Form {
  readonly fields: URLSearchParams;
  readonly address: string;
  readonly browser: Browser;
}

/** What comes of a form: the page that the browser goes to, and perhaps another session. */
interface Answer {
  /** The one that it has from now on, undefined for none; left out where it keeps what it has. */
  readonly session?: string | undefined;
  readonly leadsTo: string;
}

interface FormDeps {
  readonly signIn: SignIn;
  readonly attempts: FailedAttempts;
  readonly lookUps: LookUps;
}

async function enter(deps: FormDeps, { fields, address, browser }: Form): Promise<Answer> {
  const { signIn, attempts, lookUps } = deps;
  const token = fields.get("token") ?? "";
  const find = () => signIn.byLink(token, browser);
  const session = await lookUps.find(token, { attempts, address, find });
  if (session !== undefined) {
    lookUps.trust(session);
    return { session, leadsTo: ownPath(fields.get("return_to")) };
  }
  const text =
    "This link does not work: it was used, is older than 15 minutes, or is not complete.";
  throw refuse("SIGN_IN_REFUSED", text, { subject: "token" });
}

async function leave(deps: FormDeps, { address, browser: { session } }: Form): Promise<Answer> {
  const { signIn, attempts, lookUps } = deps;
  if (session !== undefined) {
    await lookUps.find(session, { attempts, address, find: () => signIn.signOut(session) });
  }
  return { session: undefined, leadsTo: "/sign-in" };
}

/** Answers the same to everybody: the page says that a mail is on its way if there is an account. */
function createAskForMail(ask: ReturnType<typeof createMailRequests>) {
  return async ({ fields, address }: Form): Promise<Answer> => {
    await ask(fields.get("email") ?? "", address);
    return { leadsTo: "/sign-in" };
  };
}

function readForm(
  request: IncomingMessage,
  headers: CallHeaders,
  body: Buffer,
  options: { readonly clientAddress: ClientAddress; readonly isHttps: boolean },
): Form {
  return {
    fields: new URLSearchParams(body.toString("utf8")),
    address: options.clientAddress(request.socket.remoteAddress, headers.forwardedFor),
    browser: readBrowser(request, headers, options.isHttps),
  };
}
