import { hkdfSync } from "node:crypto";
import { decrypt, encrypt, SEALING_KEY_LENGTH } from "../domain/secret-seal.ts";

export interface Purpose {
  readonly returnTo: string;
  /**
   * The browser's current session, which the new session replaces. It is stored in the attempt, because
   * the browser does not send its cookie when it returns from another site.
   */
  readonly session: string | undefined;
}

/** State of a sign-in attempt at a provider. The attempt must be completed in the same browser. */
export interface Attempt extends Purpose {
  /** PKCE verifier (RFC 7636), required to redeem the provider's code. */
  readonly verifier: string;
  /** Value that the provider returns in the redirect. */
  readonly state: string;
  /** Value that the provider returns in the ID token. */
  readonly nonce: string;
}

export const ATTEMPT_SECONDS = 600;

const CONTEXT = "sign-in attempt";

/**
 * Creates the encryption: AES-256-GCM with a key derived from the client secret. All replicas have this
 * key, so an attempt can be completed on another replica.
 */
export function createAttemptSeal(clientSecret: string, nowMs: () => number = Date.now) {
  const key = new Uint8Array(hkdfSync("sha256", clientSecret, "", CONTEXT, SEALING_KEY_LENGTH));
  return {
    close(attempt: Attempt): string {
      const text = JSON.stringify({ ...attempt, endsAtMs: nowMs() + ATTEMPT_SECONDS * 1_000 });
      return encrypt(text, key, CONTEXT).toString("base64url");
    },
    /** Decrypts an attempt. Returns `undefined` if it is older than `ATTEMPT_SECONDS` or invalid. */
    open(sealed: string): Attempt | undefined {
      const text = decrypt(Buffer.from(sealed, "base64url"), key, CONTEXT);
      if (text === undefined) return undefined;
      const { endsAtMs, ...attempt } = JSON.parse(text) as Attempt & { endsAtMs: number };
      return endsAtMs > nowMs() ? attempt : undefined;
    },
  };
}
