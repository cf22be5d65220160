import { expect, test } from "vitest";
import { createReference, referenceRange } from "../../../src/domain/shipment/shipment-reference.ts";

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

test("a reference is SHP- and 12 characters of Crockford's base32", () => {
  expect(createReference()).toMatch(/^SHP-[0-9A-HJKMNP-TV-Z]{12}$/);
});

test("references do not repeat and use every character evenly", () => {
  const references = Array.from({ length: 20_000 }, createReference);
  expect(new Set(references).size).toBe(references.length);
  const counts = new Map<string, number>();
  for (const reference of references)
    for (const character of reference.slice(4)) counts.set(character, (counts.get(character) ?? 0) + 1);
  // With 240,000 draws from 32 characters, each occurs 7,500 times on average, with a standard deviation of 85.
  expect([...counts.keys()].toSorted().join("")).toBe(CROCKFORD);
  for (const count of counts.values()) expect(Math.abs(count - 7500)).toBeLessThan(7 * 85);
});

test("references that start with a text are in one range", () => {
  expect(referenceRange("shp-4t")).toEqual({ first: "SHP-4T0000000000", last: "SHP-4TZZZZZZZZZZ" });
  const whole = "SHP-4T8ZK2M0QWXE";
  expect(referenceRange(whole)).toEqual({ first: whole, last: whole });
  for (const text of ["", "SHP", "SHP-", "SHP-I", "Ada", `${whole}0`, "4T8Z"]) {
    expect(referenceRange(text), text).toBeUndefined();
  }
});
