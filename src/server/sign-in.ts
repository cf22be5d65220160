import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { EntityManager } from "../db/orm.ts";
import type { SessionCache } from "../features/people/session-cache.ts";
import { signInByEmail } from "../features/people/sign-in-by-email.ts";
import { signInByLink, signOut } from "../features/people/sign-in.ts";
import { ATTEMPT_SECONDS } from "../oidc/attempt-seal.ts";
import { createOidcClient } from "../oidc/oidc-client.ts";
import type { OidcSignIn } from "../transport/http/sign-in-oidc.ts";
import type { SignIn } from "../transport/http/sign-in.ts";

/** How people sign in, in the words of the HTTP server. */
export function createSignIn(deps: SignInDeps): SignIn {
  const { em, sessions } = deps;
  return {
    byLink: (token, userAgent) => signInByLink(em, token, userAgent),
    async signOut(session) {
      if (await signOut(em, session)) sessions.forgetAll();
    },
    oidc: createOidcSignIn(deps),
  };
}

/** What signing in works with. */
interface SignInDeps {
  readonly em: EntityManager;
  readonly sessions: Pick<SessionCache, "forgetAll">;
  readonly config: Partial<Pick<Config, "publicUrl" | "oidc">>;
  readonly log: Logger;
}

function createOidcSignIn({
  em,
  config: { publicUrl, oidc },
  log,
}: SignInDeps): OidcSignIn | undefined {
  if (oidc === undefined || publicUrl === undefined) return undefined;
  const redirectUri = `${publicUrl}/sign-in/oidc/callback`;
  const client = createOidcClient({ ...oidc, redirectUri }, log);
  return {
    name: client.name,
    attemptSeconds: ATTEMPT_SECONDS,
    begin: client.begin,
    async finish(query, attempt, userAgent) {
      const signedIn = await client.finish(query, attempt);
      if (signedIn === undefined) return undefined;
      const session = await signInByEmail(em, signedIn.email, userAgent);
      if (session === undefined) {
        log.warn("sign-in refused by OIDC: no person or operator has the email");
        return undefined;
      }
      return { session, returnTo: signedIn.returnTo };
    },
  };
}
