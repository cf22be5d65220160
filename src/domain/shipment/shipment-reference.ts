import { randomBytes } from "node:crypto";

/** Crockford's base32 alphabet, which omits I, L, O and U to avoid misreading. */
const REFERENCE_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 12;
export const REFERENCE_PREFIX = "SHP-";

/** Creates a shipment reference: `SHP-` and 12 random Crockford base32 characters (60 bits). */
export function createReference(): string {
  return REFERENCE_PREFIX + randomCharacters(LENGTH);
}

/** Returns a random text in Crockford's base32 with five bits per character. */
export function randomCharacters(length: number): string {
  // 256 is a multiple of 32, so the lowest five bits of a random byte are uniformly distributed.
  return Array.from(randomBytes(length), (byte) => REFERENCE_ALPHABET[byte & 31]).join("");
}

export function isReference(value: unknown): value is string {
  return typeof value === "string" && /^SHP-[0-9A-HJKMNP-TV-Z]{12}$/.test(value);
}

/** Converts a reference to upper case. Returns any other text unchanged. */
export function upperCaseReference(text: string): string {
  const upper = text.toUpperCase();
  return isReference(upper) ? upper : text;
}

export const EXAMPLE_REFERENCE = "SHP-4T8ZK2M0QWXE";

/** Whether all references begin with a text, ignoring case. */
export function beginsEveryReference(text: string): boolean {
  return REFERENCE_PREFIX.startsWith(text.toUpperCase());
}

/**
 * Returns the first and last possible reference with a prefix, ignoring case. Returns `undefined` if no reference or
 * every reference has the prefix. All references have the same length, so the range is correct in every collation.
 */
export function referenceRange(text: string): { readonly first: string; readonly last: string } | undefined {
  const begins = text.toUpperCase();
  if (!/^SHP-[0-9A-HJKMNP-TV-Z]{1,12}$/.test(begins)) return undefined;
  const length = REFERENCE_PREFIX.length + LENGTH;
  return { first: begins.padEnd(length, "0"), last: begins.padEnd(length, "Z") };
}
