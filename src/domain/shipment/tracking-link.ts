import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { randomCharacters, REFERENCE_PREFIX } from "./shipment-reference.ts";

/** What makes the tracking links of a workspace: whoever has it can make them. */
export interface TrackingKey {
  /** Names the workspace in its links: eight Crockford base32 digits in lower case. */
  readonly slug: string;
  /** 32 random bytes in base64url. */
  readonly secret: string;
}

/** A tracking link, taken apart. */
export interface TrackingLink {
  readonly slug: string;
  readonly reference: string;
  readonly mac: string;
}

const LINK = /^([\da-hjkmnp-tv-z]{8})-([\w-]{22})-([\dA-HJKMNP-TV-Z]{12})$/;
/** Of base64url digits: 132 bits, of which the last digit's are all part of the hash. */
const MAC_LENGTH = 22;

export function createTrackingKey(): TrackingKey {
  const slug = randomCharacters(8).toLowerCase();
  return { slug, secret: randomBytes(32).toString("base64url") };
}

/**
 * The last part of a shipment's tracking link: the workspace's slug, 132 bits of SHA-256 over secret and reference, and
 * the digits of the reference, which end it: programs that find links in texts leave out a hyphen at the end. Secrets
 * have one length, references too, and half of the hash stays hidden, so that it cannot be extended to another message.
 */
export function trackingLink({ slug, secret }: TrackingKey, reference: string): string {
  return `${slug}-${macOf(secret, reference)}-${reference.slice(REFERENCE_PREFIX.length)}`;
}

/** The parts of what looks like a link; undefined for what does not. */
export function parseTrackingLink(text: string): TrackingLink | undefined {
  const [, slug, mac, digits] = LINK.exec(text) ?? [];
  if (slug === undefined) return undefined;
  return { slug, reference: `${REFERENCE_PREFIX}${digits}`, mac: mac! };
}

/** Whether a link was made with the secret, in a time that tells nothing of where they differ. */
export function isTrackingLinkOf(secret: string, { reference, mac }: TrackingLink): boolean {
  return timingSafeEqual(Buffer.from(macOf(secret, reference)), Buffer.from(mac));
}

/**
 * What makes the link of a shipment one by which its recipient ends the mails to an email: nobody can make it of the link
 * alone, which others have too.
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

/** One call of a hash takes a seventh of the time of an HMAC, and a list makes 25 or more of them. */
function macOf(secret: string, reference: string): string {
  return hash("sha256", secret + reference, "base64url").slice(0, MAC_LENGTH);
}
