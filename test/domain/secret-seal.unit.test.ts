import { expect, test } from "vitest";
import { createSecretSeal } from "../../src/domain/secret-seal.ts";

const [KEY, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
const seal = createSecretSeal([KEY]);
const SECRET = "whsec_\u00e4 secret: of ours";

test("a sealed secret opens in its context with its key, is not readable and differs each time", () => {
  const stored = seal.seal(SECRET, "webhook 1 a");
  expect(stored).toMatch(/^sealed:72cd6e84:[A-Za-z0-9_-]+$/);
  expect(Buffer.from(stored.split(":")[2]!, "base64url")).toHaveLength(12 + Buffer.byteLength(SECRET) + 16);
  expect(seal.open(stored, "webhook 1 a")).toBe(SECRET);
  expect(seal.seal(SECRET, "webhook 1 a")).not.toBe(stored);
});

test("a sealed secret does not open in another context, with another key or after a change", () => {
  const stored = seal.seal(SECRET, "webhook 1 a");
  expect(seal.open(stored, "webhook 1 b")).toBeUndefined();
  expect(createSecretSeal([OTHER]).open(stored, "webhook 1 a")).toBeUndefined();
  expect(createSecretSeal([]).open(stored, "webhook 1 a")).toBeUndefined();
  for (let at = "sealed:".length; at < stored.length; at++) {
    for (const other of ["A", "B", "_"].filter((character) => character !== stored[at])) {
      const changed = stored.slice(0, at) + other + stored.slice(at + 1);
      expect(seal.open(changed, "webhook 1 a"), changed).toBeUndefined();
    }
  }
  for (const cut of ["sealed:", "sealed:72cd6e84", "sealed:72cd6e84:", "sealed:72cd6e84:AAAA"]) {
    expect(seal.open(cut, "webhook 1 a")).toBeUndefined();
  }
});

test("the first key seals and all keys open, so that keys can be rotated with an overlap", () => {
  const stored = seal.seal(SECRET, "context");
  const both = createSecretSeal([OTHER, KEY]);
  expect([seal.isCurrent(stored), both.isCurrent(stored)]).toEqual([true, false]);
  expect(both.open(stored, "context")).toBe(SECRET);
  const again = both.seal(SECRET, "context");
  expect([seal.isCurrent(again), both.isCurrent(again)]).toEqual([false, true]);
  expect(createSecretSeal([OTHER]).open(again, "context")).toBe(SECRET);
});

test("without a key, secrets are stored in plain text, and a later key still reads them", () => {
  const without = createSecretSeal([]);
  expect(without.keyId).toBeUndefined();
  expect(without.seal(SECRET, "context")).toBe(SECRET);
  expect([without.open(SECRET, "context"), seal.open(SECRET, "place")]).toEqual([SECRET, SECRET]);
  expect([without.isCurrent(SECRET), seal.isCurrent(SECRET)]).toEqual([true, false]);
  expect(without.isCurrent(seal.seal(SECRET, "context"))).toBe(false);
});
