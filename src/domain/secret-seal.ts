import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/**
 * Encrypts secrets for storage, so that a copy of the database does not reveal them. Without keys,
 * secrets are stored in plain text.
 */
export type SecretSeal = ReturnType<typeof createSecretSeal>;

/*
 * An encrypted secret is
 *
 *   sealed:<id of the key>:<base64url of nonce, 12 bytes | ciphertext | tag, 16 bytes>
 *
 * with AES-256-GCM (NIST SP 800-38D) and the context as associated data. Nonces are random, which is
 * safe for 2^32 secrets per key. The id of a key is the beginning of its SHA-256. A stored value without
 * the prefix is a plain-text secret.
 */
const MARK = "sealed:";
const CIPHER = "aes-256-gcm";
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;
export const SEALING_KEY_LENGTH = 32;

/** Creates a seal from keys of `SEALING_KEY_LENGTH` bytes. The first key encrypts, and all keys decrypt. */
export function createSecretSeal(keys: readonly Uint8Array[]) {
  const byId = new Map(keys.map((key) => [idOf(key), key]));
  const [first] = byId;
  return {
    /** Id of the encryption key. `undefined` without keys. */
    keyId: first?.[0],
    /**
     * Encrypts a secret for storage.
     *
     * @param context location of the secret, such as a table and row key. Decryption requires the same context
     */
    seal(secret: string, context: string): string {
      if (first === undefined) return secret;
      const [id, key] = first;
      return `${MARK}${id}:${encrypt(secret, key, context).toString("base64url")}`;
    },
    /**
     * Decrypts a stored secret. Returns a plain-text secret unchanged. Returns `undefined` if the key
     * is missing, or if the secret was modified or encrypted for another context.
     */
    open(stored: string, context: string): string | undefined {
      if (!stored.startsWith(MARK)) return stored;
      const [id, text] = stored.slice(MARK.length).split(":");
      const key = byId.get(id!);
      const bytes = Buffer.from(text ?? "", "base64url");
      // Rejects non-canonical base64url, whose last character has unused bits set.
      if (key === undefined || bytes.toString("base64url") !== text) return undefined;
      return decrypt(bytes, key, context);
    },
    /** Whether a stored secret has the form that `seal` produces now, with the current key if any. */
    isCurrent: (stored: string) =>
      first === undefined ? !stored.startsWith(MARK) : stored.startsWith(`${MARK}${first[0]}:`),
  };
}

function idOf(key: Uint8Array): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 8);
}

/**
 * Encrypts a text with a key of `SEALING_KEY_LENGTH` bytes, bound to a context. Returns nonce, ciphertext and tag.
 */
export function encrypt(text: string, key: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a text. Returns `undefined` if the key or context differs. */
export function decrypt(bytes: Buffer, key: Uint8Array, context: string): string | undefined {
  const end = bytes.length - TAG_LENGTH;
  if (end < NONCE_LENGTH) return undefined;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_LENGTH));
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(end));
  try {
    return decipher.update(bytes.subarray(NONCE_LENGTH, end), undefined, "utf8") + decipher.final("utf8");
  } catch {
    return undefined;
  }
}
