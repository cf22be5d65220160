import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import type { Config } from "../../src/config/config.ts";
import { whenOver } from "./when-over.ts";

/** A local identity provider that accepts every login. */
export interface IdentityProvider {
  /** Settings for a service that uses the provider. */
  readonly config: NonNullable<Config["oidc"]>;
  /** Refuses connections until `start`. */
  stop(): Promise<void>;
  /** Accepts requests again at the same address. Earlier sessions are lost. */
  start(): Promise<void>;
}

/** Returns the provider's claims about the user with this login. */
type Claims = (login: string) => Readonly<Record<string, unknown>>;

const CLIENT = { clientId: "shipments", clientSecret: "client secret of the service" };

const verified: Claims = (login) => ({ email: login, email_verified: true });

/**
 * Starts an identity provider. The caller must stop it.
 *
 * @param publicUrl public URL of the service
 * @param claims claims about a login, by default the login as verified email
 * @param inIdToken whether the ID token contains the claims. Otherwise only the userinfo response does
 * @param authMethod method by which clients send their secret
 * @param assumeEmailVerified whether the service accepts emails without `email_verified`
 */
export async function startIdentityProvider({
  publicUrl,
  claims = verified,
  inIdToken = false,
  authMethod = "client_secret_basic",
  assumeEmailVerified = false,
}: {
  readonly publicUrl: string;
  readonly claims?: Claims;
  readonly inIdToken?: boolean;
  readonly authMethod?: "client_secret_basic" | "client_secret_post";
  readonly assumeEmailVerified?: boolean;
}): Promise<IdentityProvider> {
  let server = createServer();
  const listen = async (port: number) => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const configuration = {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [`${publicUrl}/sign-in/oidc/callback`],
        token_endpoint_auth_method: authMethod,
      },
    ],
    clientAuthMethods: [authMethod],
    claims: { email: ["email", "email_verified"] },
    conformIdTokenClaims: !inIdToken,
    // Lifetimes in seconds, set explicitly to avoid warnings.
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    cookies: { keys: ["cookie key of the test"] },
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, ...claims(sub) }),
    }),
  };
  const open = () => server.on("request", new Provider(issuer, configuration).callback());
  open();
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  whenOver(stop);
  return {
    config: { issuer, ...CLIENT, assumeEmailVerified },
    stop,
    async start() {
      server = createServer();
      open();
      await listen(port);
    },
  };
}
