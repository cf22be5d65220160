import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { EntityManager } from "../db/orm.ts";
import { signInByEmail } from "../features/people/sign-in-by-email.ts";
import { signInByLink, signOut } from "../features/people/sign-in.ts";
import { ATTEMPT_SECONDS } from "../oidc/attempt-seal.ts";
import { createOidcClient } from "../oidc/oidc-client.ts";
import type { OidcSignIn } from "../transport/http/sign-in-oidc.ts";
import type { SignIn } from "../transport/http/sign-in.ts";

/** How people sign in, in the words of the HTTP server. */
export function createSignIn(
  em: EntityManager,
  config: Partial<Pick<Config, "publicUrl" | "oidc">>,
  log: Logger,
): SignIn {
  return {
    byLink: (token, userAgent) => signInByLink(em, token, userAgent),
    signOut: (session) => signOut(em, session),
    oidc: createOidcSignIn(em, config, log),
  };
}

function createOidcSignIn(
  em: EntityManager,
  { publicUrl, oidc }: Partial<Pick<Config, "publicUrl" | "oidc">>,
  log: Logger,
): OidcSignIn | undefined {
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
