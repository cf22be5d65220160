import type { IncomingMessage } from "node:http";
import type { ClientAddress } from "../../pipeline/client-address.ts";
import { withAsciiDomain } from "../../domain/email.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { assertSameSite } from "../../pipeline/credentials/session-cookie.ts";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import { createFailedAttempts, type FailedAttempts } from "../../pipeline/credentials/failed-attempts.ts";
import { createTurns, type Lookups } from "../../pipeline/credentials/lookups.ts";
import { SIGN_IN_ATTEMPTS } from "../../pipeline/bounds/limits.ts";
import { readSmallBody } from "./read-body.ts";
import { splitUrl } from "../connect/request-target.ts";
import { sendRefusal, type HttpHandler } from "./responses.ts";
import { ownPath, readBrowser, redirect, sessionCookie, type Browser } from "./sign-in-browser.ts";
import { createOidcPages, type GrpcAddress, type OidcSignIn } from "./sign-in-oidc.ts";

/** Emails a sign-in link if the account exists. Does not reveal whether it exists. */
type MailSignIn = (email: string) => Promise<void>;

export interface SignIn {
  /**
   * Consumes the token of a sign-in link, ends the browser's session and starts a new session. Returns `undefined` for
   * an invalid token.
   */
  byLink(token: string, browser: Browser): Promise<string | undefined>;
  signOut(session: string): Promise<true | undefined>;
  readonly oidc: OidcSignIn | undefined;
  /** Sign-in by email. `undefined` if the service sends no email. */
  readonly byMail: MailSignIn | undefined;
}

const CONCURRENCY = 2;
/** Matches an email with its domain in ASCII, as in accounts. RFC 5321 allows 254 characters. */
const EMAIL = /^[\x21-\x7e]+@[\x21-\x7e]+$/;
const MAX_EMAIL = 254;

/**
 * Creates the handler of requests for a sign-in link. Each request counts as a failed attempt of its address.
 *
 * @throws Refusal FIELD_INVALID for an invalid email, RATE_LIMITED, and UNAVAILABLE
 */
function createMailRequests(
  mail: MailSignIn,
  attempts: FailedAttempts,
): (email: string, address: string) => Promise<void> {
  const inTurn = createTurns(CONCURRENCY);
  return async (typed, address) => {
    const email = withAsciiDomain(typed.trim());
    if (!EMAIL.test(email) || email.length > MAX_EMAIL) {
      throw refuse("FIELD_INVALID", "Enter an email such as ada@example.org.", {
        subject: "email",
      });
    }
    await attempts.make(address, async () => {
      await inTurn(() => mail(email));
      return undefined;
    });
  };
}

const MAX_FORM_BYTES = 4_096;

/**
 * Creates the handlers of the dashboard's forms: `POST /sign-in` starts a session with a link token,
 * `POST /sign-out` ends the session, and `POST /sign-in/mail` emails a link. They redirect to a page.
 * Refusals of invalid tokens do not reveal the cause. See `createOidcPages` for identity providers.
 */
export function createSignInPages(options: {
  readonly signIn: SignIn;
  readonly isHttps: boolean;
  readonly grpcAddress: () => GrpcAddress;
  readonly clientAddress: ClientAddress;
  readonly lookups: Lookups;
  readonly toRefusal: (error: unknown, requestId: string) => Refusal;
}): HttpHandler {
  const { isHttps, toRefusal } = options;
  const attempts = createFailedAttempts(SIGN_IN_ATTEMPTS, "Too many sign-in attempts from this address");
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
    const failed = (error: unknown) => sendRefusal(response, headers.requestId, toRefusal(error, headers.requestId));
    const answerForm = async () => {
      assertSameSite(headers, isHttps);
      const body = await readSmallBody(request, headers, MAX_FORM_BYTES);
      const form = readForm(request, headers, body, options);
      const answer = await forms[path]!(form);
      const setCookie = "session" in answer ? sessionCookie(answer.session, isHttps) : undefined;
      redirect(response, headers.requestId, answer.leadsTo, setCookie);
    };
    answerForm().catch(failed);
    return true;
  };
}

interface Form {
  readonly fields: URLSearchParams;
  readonly address: string;
  readonly browser: Browser;
}

/** Result of a form: the next page and, optionally, a change to the session. */
interface Answer {
  /** New session. `undefined` ends the session, and an absent value keeps it. */
  readonly session?: string | undefined;
  readonly leadsTo: string;
}

interface FormDeps {
  readonly signIn: SignIn;
  readonly attempts: FailedAttempts;
  readonly lookups: Lookups;
}

async function enter(deps: FormDeps, { fields, address, browser }: Form): Promise<Answer> {
  const { signIn, attempts, lookups } = deps;
  const token = fields.get("token") ?? "";
  const find = () => signIn.byLink(token, browser);
  const session = await lookups.find(token, { attempts, address, find });
  if (session !== undefined) {
    lookups.trust(session);
    return { session, leadsTo: ownPath(fields.get("return_to")) };
  }
  const text = "This link is not valid: it was already used, is older than 15 minutes, or is incomplete.";
  throw refuse("SIGN_IN_REFUSED", text, { subject: "token" });
}

async function leave(deps: FormDeps, { address, browser: { session } }: Form): Promise<Answer> {
  const { signIn, attempts, lookups } = deps;
  if (session !== undefined) {
    await lookups.find(session, { attempts, address, find: () => signIn.signOut(session) });
  }
  return { session: undefined, leadsTo: "/sign-in" };
}

/**
 * Returns the same response for all emails, so that it does not reveal accounts. An email is sent only
 * if the account exists.
 */
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
