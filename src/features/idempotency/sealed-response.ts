import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { getOption, hasOption, type DescMessage } from "@bufbuild/protobuf";
import { secret } from "../../../gen/shipments/v1/options_pb.js";

/** Inputs for sealing. The database stores all of them, except the secret key, of which it stores only the hash. */
export interface SealedFor {
  /** Secret key that authenticated the call. Contains 178 random bits. */
  readonly secretKey: string;
  readonly idempotencyKey: string;
  /** Method and digest of the request. The sealed response is bound to them. */
  readonly request: string;
}

/*
 * A sealed response is
 *
 *   0x00 | salt, 32 bytes | ciphertext | tag, 16 bytes
 *
 * HKDF-SHA-256 (RFC 5869) derives 44 bytes from the secret key, the salt and the idempotency key: the key and the nonce
 * of AES-256-GCM (NIST SP 800-38D). The salt is random, so each pair of key and nonce is used once, as GCM requires. No
 * binary message begins with 0x00, because there is no field 0. Sealed responses can therefore be distinguished from
 * older, unsealed responses.
 */
const MARK = 0x00;
const SALT_LENGTH = 32;
const TAG_LENGTH = 16;
const KEY_LENGTH = 32;
const NONCE_LENGTH = 12;
const CIPHER = "aes-256-gcm";

/** Encrypts a response. Only the holder of the secret key can decrypt it. */
export function sealResponse(response: Uint8Array, sealedFor: SealedFor): Buffer {
  const salt = randomBytes(SALT_LENGTH);
  const { key, nonce } = deriveKey(salt, sealedFor);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_LENGTH });
  cipher.setAAD(Buffer.from(sealedFor.request));
  const sealed = [cipher.update(response), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([Uint8Array.of(MARK), salt, ...sealed]);
}

/**
 * Opens a stored response. Returns it unchanged if it is not sealed. Returns `undefined` if it was
 * sealed with another secret key or modified.
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

/** Whether a message type has a field marked `secret`, at any depth. */
export function holdsSecret(message: DescMessage): boolean {
  const known = secretsKnown.get(message);
  if (known !== undefined) return known;
  // Ends the recursion for recursive message types.
  secretsKnown.set(message, false);
  const holds = message.fields.some(
    (field) =>
      (hasOption(field, secret) && getOption(field, secret)) ||
      (field.message !== undefined && holdsSecret(field.message)),
  );
  secretsKnown.set(message, holds);
  return holds;
}
