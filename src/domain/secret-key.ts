import { hash, randomBytes, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

/** Prefix of a secret key: of a workspace, a test twin or an operator. */
export type KeyPrefix = "shp_" | "shp_test_" | "sho_";

const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const MAX_KEY_LENGTH = "shp_test_".length + SECRET_LENGTH + CHECKSUM_LENGTH;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const FORM = /^(?:shp_|shp_test_|sho_)([0-9A-Za-z]{30})[0-9A-Za-z]{6}$/;

/**
 * Creates a secret key: its prefix, 30 random base62 characters (178 bits) and their CRC-32 as 6
 * base62 characters. `randomInt` is unbiased.
 */
export function createSecretKey(prefix: KeyPrefix): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(62)]).join("");
  return prefix + secret + checksumOf(secret);
}

/**
 * Whether a text has the format and checksum of a key, so that a typo is refused without a lookup.
 * Time and memory do not depend on the length of the text.
 */
export function isWellFormedKey(text: string): boolean {
  if (text.length > MAX_KEY_LENGTH) return false;
  const secret = FORM.exec(text)?.[1];
  return secret !== undefined && text.endsWith(checksumOf(secret));
}

/** A key except its last four characters. */
const KEY_IN_TEXT = /(sh[po]_(?:test_)?)[0-9A-Za-z]{32}(?=[0-9A-Za-z]{4})/g;

/** Returns a text in which keys are truncated to their last four characters. */
export function cutKeys(text: string): string {
  return text.includes("shp_") || text.includes("sho_") ? text.replace(KEY_IN_TEXT, "$1...") : text;
}

/** Creates the public id of a key: `key_` and 24 random characters. */
export function createKeyId(): string {
  return `key_${randomBytes(12).toString("hex")}`;
}

/** Returns the SHA-256 of a key in base64url, 43 characters. Only this hash is stored. */
export function hashKey(key: string): string {
  return hash("sha256", key, "base64url");
}

/** Returns the last four characters of a key, for display. */
export function lastFour(key: string): string {
  return key.slice(-4);
}

/** Returns the CRC-32 (ISO 3309, as in zlib) in base62, most significant digit first, zero-padded. */
function checksumOf(secret: string): string {
  let rest = crc32(secret);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
