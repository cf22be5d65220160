import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { randomCharacters, REFERENCE_PREFIX } from "./shipment-reference.ts";

/** Secret from which the tracking links of a workspace are derived. */
export interface TrackingKey {
  /** Identifies the workspace in links: eight lower-case Crockford base32 characters. */
  readonly slug: string;
  /** 32 random bytes in base64url. */
  readonly secret: string;
}

/** The parts of a tracking link. */
export interface TrackingLink {
  readonly slug: string;
  readonly reference: string;
  readonly mac: string;
}

const LINK = /^([\da-hjkmnp-tv-z]{8})-([\w-]{22})-([\dA-HJKMNP-TV-Z]{12})$/;
/** In base64url digits: 132 bits, all of them bits of the hash. */
const MAC_LENGTH = 22;

export function createTrackingKey(): TrackingKey {
  const slug = randomCharacters(8).toLowerCase();
  return { slug, secret: randomBytes(32).toString("base64url") };
}

/**
 * Returns the last path segment of a tracking link: the workspace's slug, 132 bits of SHA-256 over secret and
 * reference, and the digits of the reference. It ends with digits because programs that detect links in text drop a
 * trailing hyphen. All inputs have fixed length and half of the hash stays hidden, which prevents length extension.
 */
export function trackingLink({ slug, secret }: TrackingKey, reference: string): string {
  return `${slug}-${macOf(secret, reference)}-${reference.slice(REFERENCE_PREFIX.length)}`;
}

/** Parses a tracking link. `undefined` if malformed. */
export function parseTrackingLink(text: string): TrackingLink | undefined {
  const [, slug, mac, digits] = LINK.exec(text) ?? [];
  if (slug === undefined) return undefined;
  return { slug, reference: `${REFERENCE_PREFIX}${digits}`, mac: mac! };
}

/** Whether a link was derived from the secret. Constant-time comparison. */
export function isTrackingLinkOf(secret: string, { reference, mac }: TrackingLink): boolean {
  return isSameMac(mac, macOf(secret, reference));
}

/**
 * Returns the MAC of an unsubscribe link for a shipment and email. It cannot be derived from the tracking link.
 *
 * @param email in lower case
 */
export function unsubscribeMac({ secret }: TrackingKey, reference: string, email: string): string {
  return macOf(secret, `${reference} ${email}`);
}

/**
 * Proves that its holder entered the last digits of a recipient's phone number. Ends with the tracking link, and when the
 * shipment gets another number.
 *
 * @param phone in E.164
 */
export function recipientMac({ secret }: TrackingKey, reference: string, phone: string): string {
  return macOf(secret, `${reference} recipient ${phone}`);
}

/** Compares MACs in constant time. */
export function isSameMac(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** One hash takes a seventh of the time of an HMAC, and a list computes 25 or more. */
function macOf(secret: string, reference: string): string {
  return hash("sha256", secret + reference, "base64url").slice(0, MAC_LENGTH);
}
