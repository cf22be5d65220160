import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  randomBytes,
  type Decipheriv,
} from "node:crypto";

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

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Builds the seal: AES-256-GCM under a key that is made from the client secret, which all replicas have,
 * so that an attempt may begin at one of them and end at another.
 */
export function createAttemptSeal(
  clientSecret: string,
  nowMs: () => number = Date.now,
): AttemptSeal {
  const key = Buffer.from(hkdfSync("sha256", clientSecret, "", "sign-in attempt", 32));
  return {
    close(attempt) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, key, iv);
      const text = JSON.stringify({ ...attempt, endsAtMs: nowMs() + ATTEMPT_SECONDS * 1_000 });
      const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString("base64url");
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const text = decrypt(decipher, bytes.subarray(IV_BYTES + TAG_BYTES));
      if (text === undefined) return undefined;
      const { endsAtMs, ...attempt } = JSON.parse(text) as Attempt & { endsAtMs: number };
      return endsAtMs > nowMs() ? attempt : undefined;
    },
  };
}

/** The text; undefined when it was not encrypted under this key. */
function decrypt(decipher: Decipheriv, encrypted: Buffer): string | undefined {
  try {
    return decipher.update(encrypted, undefined, "utf8") + decipher.final("utf8");
  } catch {
    return undefined;
  }
}
