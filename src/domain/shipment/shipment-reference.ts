import { randomBytes } from "node:crypto";

/** Crockford's base32: no I, L, O or U, so that nothing is misread aloud or on paper. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 12;

/**
 * A new shipment reference: `SHP-` and 12 random Crockford base32 characters (60 bits), which
 * cannot be guessed or counted up.
 */
export function createReference(): string {
  // 256 is a multiple of 32, so five bits of a random byte are unbiased.
  const characters = Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte & 31]);
  return `SHP-${characters.join("")}`;
}

/** Whether a value is of the form of a reference. */
export function isReference(value: unknown): value is string {
  return typeof value === "string" && /^SHP-[0-9A-HJKMNP-TV-Z]{12}$/.test(value);
}
