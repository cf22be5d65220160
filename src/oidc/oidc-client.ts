import type { Logger } from "pino";
import type * as OpenidClient from "openid-client";
import { withAsciiDomain } from "../domain/email.ts";
import { unavailable } from "../domain/refusal.ts";
import { createAttemptSeal, type Attempt, type Purpose } from "./attempt-seal.ts";

/** An identity provider and its client credentials. */
export interface OidcSettings {
  /** Issuer URL, without the path `/.well-known/openid-configuration`. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  /** Whether emails without `email_verified` count as verified. */
  readonly assumeEmailVerified: boolean;
}

interface SignedInByOidc {
  readonly email: string;
  readonly purpose: Purpose;
}

const TIMEOUT_SECONDS = 10;
/** Cache lifetime of the provider's metadata, in milliseconds. */
const REMEMBER_MS = 60 * 60 * 1_000;

/**
 * Creates a client that signs people in at an identity provider, using OpenID Connect's code flow with PKCE. It
 * contacts the provider and loads its library at the first attempt, so that the service starts even if the provider is
 * unreachable.
 *
 * @param spend records that the attempt with this state has ended. Returns false if it had already ended
 */
export function createOidcClient(
  settings: OidcSettings,
  { spend, log }: { readonly spend: (state: string) => Promise<boolean>; readonly log: Logger },
) {
  const { redirectUri } = settings;
  const seal = createAttemptSeal(settings.clientSecret);
  const discover = createDiscovery(settings);

  /** Sends a request to the provider. Returns `undefined` if the provider refuses it. */
  async function ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    try {
      return await question();
    } catch (error) {
      if (!isAway(error)) {
        log.warn({ err: error }, "sign-in refused by OIDC");
        return undefined;
      }
      log.warn({ err: error }, "the identity provider cannot be reached");
      throw unavailable("The identity provider cannot be reached. Try again in a moment.", error);
    }
  }

  return {
    /** Host of the provider, shown to people. */
    name: new URL(settings.issuer).host,
    /**
     * Starts an attempt. Returns the redirect URL and the encrypted state for the browser.
     *
     * @throws Refusal UNAVAILABLE if the provider is unreachable
     */
    async begin(purpose: Purpose): Promise<{ readonly url: string; readonly attempt: string }> {
      const { library, provider } = (await ask(discover))!;
      const verifier = library.randomPKCECodeVerifier();
      const attempt = { verifier, state: library.randomState(), nonce: library.randomNonce() };
      const url = library.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: "openid email",
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state: attempt.state,
        nonce: attempt.nonce,
      });
      return { url: url.href, attempt: seal.close({ ...purpose, ...attempt }) };
    },
    /**
     * Completes an attempt with the query of the redirect. Each attempt can be completed once, whatever the result.
     *
     * @returns `undefined` if the provider confirms no email, or the redirect belongs to another attempt
     * @throws Refusal UNAVAILABLE if the provider is unreachable
     */
    async finish(query: string, sealed: string | undefined): Promise<SignedInByOidc | undefined> {
      const attempt = seal.open(sealed ?? "");
      if (attempt === undefined) return undefined;
      if (!(await spend(attempt.state))) {
        log.warn("sign-in refused by OIDC: this attempt has already ended");
        return undefined;
      }
      const { library, provider } = (await ask(discover))!;
      const callback = new URL(`${redirectUri}?${query}`);
      const claims = await ask(() => findClaims(library, provider, callback, attempt));
      if (claims === undefined) return undefined;
      const { email, email_verified: verified } = claims;
      if (typeof email !== "string" || !isVerified(verified, settings)) {
        const details = { email: typeof email, email_verified: verified };
        log.warn(details, "sign-in refused by OIDC: the provider returned no verified email");
        return undefined;
      }
      return { email: withAsciiDomain(email), purpose: attempt };
    },
  };
}

interface Discovered {
  readonly library: typeof OpenidClient;
  readonly provider: OpenidClient.Configuration;
}

/** Creates the cached discovery of the provider. It runs on first use, and again after a failure or expiry. */
function createDiscovery(settings: OidcSettings): () => Promise<Discovered> {
  let known: { readonly found: Promise<Discovered>; readonly untilMs: number } | undefined;
  return () => {
    if (known !== undefined && performance.now() < known.untilMs) return known.found;
    const lookup = { found: discoverNow(settings), untilMs: performance.now() + REMEMBER_MS };
    known = lookup;
    lookup.found.catch(() => {
      if (known === lookup) known = undefined;
    });
    return lookup.found;
  };
}

async function discoverNow({ issuer, clientId, clientSecret }: OidcSettings): Promise<Discovered> {
  const library = await import("openid-client");
  // The configuration allows http only on the loopback address.
  const insecure = issuer.startsWith("http:") ? [library.allowInsecureRequests] : [];
  try {
    const provider = await library.discovery(
      new URL(issuer),
      clientId,
      undefined,
      clientSecretAuth(library, clientSecret),
      // Signatures of ID tokens are verified, although the tokens come directly from the provider.
      { execute: [...insecure, library.enableNonRepudiationChecks], timeout: TIMEOUT_SECONDS },
    );
    return { library, provider };
  } catch (error) {
    throw new DiscoveryError(`${issuer} does not describe itself as an identity provider`, {
      cause: error,
    });
  }
}

/** Thrown if discovery failed, because the provider is unreachable or the configuration is wrong. */
class DiscoveryError extends Error {}

/**
 * Returns the client authentication. The secret is sent in the header, which is the default (OpenID Connect Discovery
 * 1.0, section 3). If the provider does not accept this method, the secret is sent in the body.
 */
function clientSecretAuth(library: typeof OpenidClient, secret: string): OpenidClient.ClientAuth {
  const inHeader = library.ClientSecretBasic(secret);
  const inBody = library.ClientSecretPost(secret);
  return (provider, ...rest) => {
    const methods = provider.token_endpoint_auth_methods_supported;
    const byHeader = methods === undefined || methods.includes("client_secret_basic");
    (byHeader ? inHeader : inBody)(provider, ...rest);
  };
}

type Claims = Readonly<Record<string, unknown>>;

/** Returns the email claims of the ID token, or of the userinfo endpoint if the token has none. */
async function findClaims(
  library: typeof OpenidClient,
  provider: OpenidClient.Configuration,
  callback: URL,
  attempt: Attempt,
): Promise<Claims> {
  const tokens = await library.authorizationCodeGrant(provider, callback, {
    pkceCodeVerifier: attempt.verifier,
    expectedState: attempt.state,
    expectedNonce: attempt.nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims()!;
  const isStated = claims["email"] !== undefined && claims["email_verified"] !== undefined;
  if (isStated || provider.serverMetadata().userinfo_endpoint === undefined) return claims;
  return library.fetchUserInfo(provider, tokens.access_token, claims.sub);
}

/**
 * Whether an email is verified. `email_verified` must be `true` (OpenID Connect Core 1.0, 5.1). With
 * the setting it may also be absent or the text "true".
 */
function isVerified(verified: unknown, { assumeEmailVerified }: OidcSettings): boolean {
  if (verified === true) return true;
  return assumeEmailVerified && (verified === undefined || verified === "true");
}

/** Whether a retry may help: there was no response, a timeout, or a server error. */
function isAway(error: unknown): boolean {
  if (error instanceof DiscoveryError) return true;
  if (!(error instanceof Error)) return false;
  if (error.message === "fetch failed") return true;
  if ("code" in error && error.code === "OAUTH_TIMEOUT") return true;
  return error.cause instanceof Response && error.cause.status >= 500;
}
