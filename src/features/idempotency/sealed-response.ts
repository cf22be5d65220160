import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { getOption, hasOption, type DescMessage } from "@bufbuild/protobuf";
import { secret } from "../../../gen/shipments/v1/options_pb.js";

/**
 * What a sealed response is sealed for. Whoever has the database has all of it but the secret key,
 * of which only the hash is stored.
 */
export interface SealedFor {
  /** The secret key that the call came with, 178 random bits. */
  readonly secretKey: string;
  readonly idempotencyKey: string;
  /** What the response answers, which nobody can put another in the place of: method and digest. */
  readonly request: string;
}

/*
 * A sealed response is
 *
 *   0x00 | salt, 32 bytes | ciphertext | tag, 16 bytes
 *
 * The key and the nonce of AES-256-GCM (NIST SP 800-38D) are the 44 bytes that HKDF-SHA-256 (RFC
 * 5869) derives from the secret key, the salt and the idempotency key. The salt is random, so no key
 * seals twice, as GCM demands of a key and a nonce. No message in its binary form begins with 0x00,
 * because there is no field 0: what was stored before responses were sealed is told from it.
 */
const MARK = 0x00;
const SALT_LENGTH = 32;
const TAG_LENGTH = 16;
const KEY_LENGTH = 32;
const NONCE_LENGTH = 12;
const CIPHER = "aes-256-gcm";

/** Seals a response, so that it can be read with the secret key alone. */
export function sealResponse(response: Uint8Array, sealedFor: SealedFor): Buffer {
  const salt = randomBytes(SALT_LENGTH);
  const { key, nonce } = deriveKey(salt, sealedFor);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_LENGTH });
  cipher.setAAD(Buffer.from(sealedFor.request));
  const sealed = [cipher.update(response), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([Uint8Array.of(MARK), salt, ...sealed]);
}

/**
 * Opens a response that may be sealed.
 *
 * @returns undefined when it was sealed for another secret key, or has been changed
 */
export function openResponse(stored: Uint8Array, sealedFor: SealedFor): Uint8Array | undefined {
  if (stored[0] !== MARK) return stored;
  const end = stored.length - TAG_LENGTH;
  const begin = 1 + SALT_LENGTH;
  if (end < begin) return undefined;
  const { key, nonce } = deriveKey(stored.subarray(1, begin), sealedFor);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_LENGTH });
  decipher.setAAD(Buffer.from(sealedFor.request)).setAuthTag(stored.subarray(end));
  try {
    return Buffer.concat([decipher.update(stored.subarray(begin, end)), decipher.final()]);
  } catch {
    return undefined;
  }
}

function deriveKey(salt: Uint8Array, { secretKey, idempotencyKey }: SealedFor) {
  const info = `stored response ${idempotencyKey}`;
  const bytes = hkdfSync("sha256", secretKey, salt, info, KEY_LENGTH + NONCE_LENGTH);
  return {
    key: new Uint8Array(bytes, 0, KEY_LENGTH),
    nonce: new Uint8Array(bytes, KEY_LENGTH, NONCE_LENGTH),
  };
}

const secretsKnown = new WeakMap<DescMessage, boolean>();

/** Whether a kind of message has a field for a secret, marked `secret`, however deep. */
export function holdsSecret(message: DescMessage): boolean {
  const known = secretsKnown.get(message);
  if (known !== undefined) return known;
  // For a message that holds itself.
  secretsKnown.set(message, false);
  const holds = message.fields.some(
    (field) =>
      (hasOption(field, secret) && getOption(field, secret)) ||
      (field.message !== undefined && holdsSecret(field.message)),
  );
  secretsKnown.set(message, holds);
  return holds;
}
