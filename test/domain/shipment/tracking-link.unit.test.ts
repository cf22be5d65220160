import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createReference } from "../../../src/domain/shipment/shipment-reference.ts";
import {
  createTrackingKey,
  isTrackingLinkOf,
  parseTrackingLink,
  trackingLink,
} from "../../../src/domain/shipment/tracking-link.ts";

const GUESSES = 200_000;
const REFERENCE = "SHP-4D2M7Q0V9KXA";
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghijklmnopqrstuvwxyz-_ .~é";

const key = createTrackingKey();
const isOurs = (text: string) => {
  const link = parseTrackingLink(text);
  return link?.slug === key.slug && isTrackingLinkOf(key.secret, link);
};

test("a link is short, contains the shipment's reference and is always the same", () => {
  const link = trackingLink(key, REFERENCE);
  expect(link).toMatch(/^[\da-z]{8}-[\w-]{22}-4D2M7Q0V9KXA$/);
  expect(trackingLink(key, REFERENCE)).toBe(link);
  expect(parseTrackingLink(link)).toMatchObject({ slug: key.slug, reference: REFERENCE });
  expect(isOurs(link)).toBe(true);
});

test("refuses a link with any changed, missing or added character", () => {
  const link = trackingLink(key, REFERENCE);
  for (let i = 0; i < link.length; i++) {
    for (const digit of DIGITS.replace(link[i]!, "")) {
      expect(isOurs(link.slice(0, i) + digit + link.slice(i + 1))).toBe(false);
    }
    expect(isOurs(link.slice(0, i) + link.slice(i + 1))).toBe(false);
  }
  expect(isOurs(`${link}A`)).toBe(false);
});

test("a guess or the link of another shipment or workspace opens no shipment", () => {
  const other = createTrackingKey();
  for (let i = 0; i < GUESSES; i++) {
    const mac = randomBytes(17).toString("base64url").slice(0, 22);
    expect(isOurs(`${key.slug}-${mac}-4D2M7Q0V9KXA`)).toBe(false);
  }
  const ours = new Set<string>();
  for (let i = 0; i < 10_000; i++) {
    const reference = createReference();
    ours.add(trackingLink(key, reference).slice(9, 31));
    expect(isOurs(trackingLink({ ...other, slug: key.slug }, reference))).toBe(false);
  }
  expect(ours.size).toBe(10_000);
});
