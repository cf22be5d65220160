import { expect, test } from "vitest";
import { createUnknownKeys } from "../../src/pipeline/unknown-keys.ts";

const TOO_MANY = "Too many unknown keys came from this address; try again in 1 s.";

test("an address that sends many unknown keys is refused for a while, and others are not", () => {
  let nowMs = 0;
  const unknownKeys = createUnknownKeys(() => nowMs);
  for (let i = 0; i < 1_000; i++) {
    unknownKeys.assertFew("192.0.2.1");
    unknownKeys.count("192.0.2.1");
  }
  expect(() => unknownKeys.assertFew("192.0.2.1")).toThrow(TOO_MANY);
  expect(() => unknownKeys.assertFew("192.0.2.2")).not.toThrow();
  nowMs += 10;
  expect(() => unknownKeys.assertFew("192.0.2.1")).not.toThrow();
});

test("addresses without number do not escape the counting", () => {
  const unknownKeys = createUnknownKeys(() => 0);
  for (let i = 0; i < 12_000; i++) unknownKeys.count(`address ${i}`);
  expect(() => unknownKeys.assertFew("address 11999")).toThrow(TOO_MANY);
});
