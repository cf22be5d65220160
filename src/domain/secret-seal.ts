import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/**
 * Seals secrets that have to be stored and read again, so that whoever has the database alone has
 * none of them. Without keys, secrets are stored as they are.
 */
export interface SecretSeal {
  /** Names the key that seals; undefined without keys. */
  readonly keyId: string | undefined;
  /**
   * What to store for a secret.
   *
   * @param place where it is stored, such as a table with its key: what is moved elsewhere does not open
   */
  seal(secret: string, place: string): string;
  /**
   * The secret that is stored at a place, sealed or as it is; undefined when its key is not among
   * the keys, or when it was sealed for another place or has been changed.
   */
  open(stored: string, place: string): string | undefined;
  /** Whether it is stored as `seal` would store it now. */
  isCurrent(stored: string): boolean;
}

/*
 * A sealed secret is
 *
 *   sealed:<id of the key>:<base64url of nonce, 12 bytes | ciphertext | tag, 16 bytes>
 *
 * by AES-256-GCM (NIST SP 800-38D) with the place as associated data. Nonces are random, which is
 * safe for 2^32 secrets of a key. The id of a key is the beginning of its SHA-256. What does not
 * begin with the mark is a secret as it is.
 */
const MARK = "sealed:";
const CIPHER = "aes-256-gcm";
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;
export const SEALING_KEY_LENGTH = 32;

/** Builds a seal of keys of `SEALING_KEY_LENGTH`: the first seals, and all open. */
export function createSecretSeal(keys: readonly Uint8Array[]): SecretSeal {
  const byId = new Map(keys.map((key) => [idOf(key), key]));
  const [first] = byId;
  return {
    keyId: first?.[0],
    seal(secret, place) {
      if (first === undefined) return secret;
      const [id, key] = first;
      return `${MARK}${id}:${encrypt(secret, key, place).toString("base64url")}`;
    },
    open(stored, place) {
      if (!stored.startsWith(MARK)) return stored;
      const [id, text] = stored.slice(MARK.length).split(":");
      const key = byId.get(id!);
      const bytes = Buffer.from(text ?? "", "base64url");
      // The last character may have bits that stand for nothing, which are zero.
      if (key === undefined || bytes.toString("base64url") !== text) return undefined;
      return decrypt(bytes, key, place);
    },
    isCurrent: (stored) =>
      first === undefined ? !stored.startsWith(MARK) : stored.startsWith(`${MARK}${first[0]}:`),
  };
}

function idOf(key: Uint8Array): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 8);
}

/** Nonce, ciphertext and tag of a text, by a key of `SEALING_KEY_LENGTH`; it opens for this place alone. */
export function encrypt(text: string, key: Uint8Array, place: string): Buffer {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(place));
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

/** The text; undefined when it was not encrypted with this key for this place. */
export function decrypt(bytes: Buffer, key: Uint8Array, place: string): string | undefined {
  const end = bytes.length - TAG_LENGTH;
  if (end < NONCE_LENGTH) return undefined;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_LENGTH));
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(end));
  try {
    return (
      decipher.update(bytes.subarray(NONCE_LENGTH, end), undefined, "utf8") + decipher.final("utf8")
    );
  } catch {
    return undefined;
  }
}
