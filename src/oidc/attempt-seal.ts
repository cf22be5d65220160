import { hkdfSync } from "node:crypto";
import { decrypt, encrypt, SEALING_KEY_LENGTH } from "../domain/secret-seal.ts";

export interface Purpose {
  readonly returnTo: string;
  /**
   * The session that the browser has as it leaves, which the new one takes the place of; undefined for
   * none. Coming back from another site, the browser does not send it.
   */
  readonly session: string | undefined;
}

/** What has to come back with somebody who signs in at a provider, so that it is they who come back. */
export interface Attempt extends Purpose {
  /** Of PKCE (RFC 7636): only who has it can use the provider's code. */
  readonly verifier: string;
  /** Comes back in the address. */
  readonly state: string;
  /** Comes back in the ID token. */
  readonly nonce: string;
}

/** Makes attempts into text that their browser keeps and can neither read nor change. */
export interface AttemptSeal {
  close(attempt: Attempt): string;
  /** The attempt; undefined when it is older than `ATTEMPT_SECONDS`, or the text is none of ours. */
  open(sealed: string): Attempt | undefined;
}

export const ATTEMPT_SECONDS = 600;

const PLACE = "sign-in attempt";

/**
 * Builds the seal: AES-256-GCM under a key that is made from the client secret, which all replicas have,
 * so that an attempt may begin at one of them and end at another.
 */
export function createAttemptSeal(
  clientSecret: string,
  nowMs: () => number = Date.now,
): AttemptSeal {
  const key = new Uint8Array(hkdfSync("sha256", clientSecret, "", PLACE, SEALING_KEY_LENGTH));
  return {
    close(attempt) {
      const text = JSON.stringify({ ...attempt, endsAtMs: nowMs() + ATTEMPT_SECONDS * 1_000 });
      return encrypt(text, key, PLACE).toString("base64url");
    },
    open(sealed) {
      const text = decrypt(Buffer.from(sealed, "base64url"), key, PLACE);
      if (text === undefined) return undefined;
      const { endsAtMs, ...attempt } = JSON.parse(text) as Attempt & { endsAtMs: number };
      return endsAtMs > nowMs() ? attempt : undefined;
    },
  };
}
