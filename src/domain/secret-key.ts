import { hash, randomBytes, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

/** Prefix of a secret key for a workspace, a test twin or an operator, in this order. */
export type KeyPrefix = "shp_" | "shp_test_" | "sho_";

const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const MAX_KEY_LENGTH = "shp_test_".length + SECRET_LENGTH + CHECKSUM_LENGTH;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const FORM = /^(?:shp_|shp_test_|sho_)([0-9A-Za-z]{30})[0-9A-Za-z]{6}$/;

/**
 * Creates a secret key: the prefix, 30 random base62 characters (178 bits) and their CRC-32 as 6 base62 characters.
 */
export function createSecretKey(prefix: KeyPrefix): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(62)]).join("");
  return prefix + secret + checksumOf(secret);
}

/**
 * Whether a text has the format and checksum of a key, so that typos are rejected without a lookup.
 * Takes bounded time and memory for texts of any length.
 */
export function isWellFormedKey(text: string): boolean {
  if (text.length > MAX_KEY_LENGTH) return false;
  const secret = FORM.exec(text)?.[1];
  return secret !== undefined && text.endsWith(checksumOf(secret));
}

/** Matches a key without its last four characters. */
const KEY_IN_TEXT = /(sh[po]_(?:test_)?)[0-9A-Za-z]{32}(?=[0-9A-Za-z]{4})/g;

/** Replaces each key in a text with its prefix and last four characters. */
export function cutKeys(text: string): string {
  return text.includes("shp_") || text.includes("sho_") ? text.replace(KEY_IN_TEXT, "$1...") : text;
}

/** Creates a public id: the prefix, such as `key`, an underscore, and 24 random characters. */
export function createId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString("hex")}`;
}

/** Returns the SHA-256 of a key in base64url, 43 characters. Only this hash is stored. */
export function hashKey(key: string): string {
  return hash("sha256", key, "base64url");
}

export function lastFour(key: string): string {
  return key.slice(-4);
}

/** Returns the CRC-32 (ISO 3309, as in zlib) in zero-padded base62, most significant digit first. */
function checksumOf(secret: string): string {
  let rest = crc32(secret);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
