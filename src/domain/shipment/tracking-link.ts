import { hash, randomBytes, timingSafeEqual } from "node:crypto";

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

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const LINK = /^([\da-hjkmnp-tv-z]{8})-([\w-]{22})-([\dA-HJKMNP-TV-Z]{12})$/;
const REFERENCE_PREFIX = "SHP-";
/** Of base64url digits: 132 bits, of which the last digit's are all part of the hash. */
const MAC_LENGTH = 22;

export function createTrackingKey(): TrackingKey {
  const slug = Array.from(randomBytes(8), (byte) => DIGITS[byte % DIGITS.length]).join("");
  return { slug, secret: randomBytes(32).toString("base64url") };
}

/**
 * The last part of a shipment's tracking link: the workspace's slug, 132 bits of SHA-256 over secret and reference, and
 * the digits of the reference, which end it: programs that find links in texts leave out a hyphen at the end. Both have one length and half of the hash stays hidden, so that it cannot be
 * extended to another message (RFC 6151 and FIPS 180-4 say which hashes can).
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

/** One call of a hash takes a seventh of the time of an HMAC, and a list makes 25 or more of them. */
function macOf(secret: string, reference: string): string {
  return hash("sha256", secret + reference, "base64url").slice(0, MAC_LENGTH);
}
