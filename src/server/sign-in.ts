import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { EntityManager } from "../db/orm.ts";
import { openCourierLink } from "../features/couriers/courier-sessions.ts";
import type { SessionCache } from "../features/people/session-cache.ts";
import { endSessionOf } from "../features/people/end-sign-ins.ts";
import { requestSignInMail } from "../features/people/request-mail.ts";
import { signInByEmail, signInByLink, spendAttempt } from "../features/people/sign-in.ts";
import { ATTEMPT_SECONDS } from "../oidc/attempt-seal.ts";
import { createOidcClient } from "../oidc/oidc-client.ts";
import type { OpenCourierLink } from "../transport/http/courier-session.ts";
import type { OidcSignIn } from "../transport/http/sign-in-oidc.ts";
import type { SignIn } from "../transport/http/sign-in.ts";

export function createSignIn(deps: SignInDeps): SignIn & { readonly openCourierLink: OpenCourierLink } {
  const { em, sessions, config } = deps;
  return {
    async byLink(token, browser) {
      const session = await signInByLink(em, token, browser);
      if (session !== undefined && browser.session !== undefined) sessions.forgetAll();
      return session;
    },
    async signOut(session) {
      if (!(await endSessionOf(em, session))) return undefined;
      sessions.forgetAll();
      return true;
    },
    openCourierLink: createOpenCourierLink(em),
    oidc: createOidcSignIn(deps),
    byMail: config.mail && ((email) => requestSignInMail(em, email)),
  };
}

/** Creates the function that exchanges a courier's link for a session. */
function createOpenCourierLink(em: EntityManager): OpenCourierLink {
  return async (token, browser) => {
    const opened = await openCourierLink(em, token, browser);
    if (opened === undefined) return undefined;
    const { session, expiresAt, courier, workspace } = opened;
    return { session, expiresAt, shown: { courier, workspace } };
  };
}

interface SignInDeps {
  readonly em: EntityManager;
  readonly sessions: Pick<SessionCache, "forgetAll">;
  readonly config: Partial<Pick<Config, "publicUrl" | "oidc" | "mail">>;
  readonly log: Logger;
}

function createOidcSignIn(deps: SignInDeps): OidcSignIn | undefined {
  const { em, sessions, config, log } = deps;
  const { publicUrl, oidc } = config;
  if (oidc === undefined || publicUrl === undefined) return undefined;
  const redirectUri = `${publicUrl}/sign-in/oidc/callback`;
  const spend = (state: string) => spendAttempt(em, state, ATTEMPT_SECONDS);
  const client = createOidcClient({ ...oidc, redirectUri }, { spend, log });
  return {
    name: client.name,
    attemptSeconds: ATTEMPT_SECONDS,
    begin: (returnTo, session) => client.begin({ returnTo, session }),
    async finish(query, attempt, browser) {
      const signedIn = await client.finish(query, attempt);
      if (signedIn === undefined) return undefined;
      const { email, purpose } = signedIn;
      const session = await signInByEmail(em, email, { ...browser, session: purpose.session });
      if (session === undefined) {
        log.warn("sign-in refused by OIDC: no person or operator has this email");
        return undefined;
      }
      if (purpose.session !== undefined) sessions.forgetAll();
      return { session, returnTo: purpose.returnTo };
    },
  };
}
