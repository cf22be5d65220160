import { expect, test } from "vitest";
import { createFailedAttempts } from "../../src/pipeline/failed-attempts.ts";

const LIMIT = { rate: 100, burst: 1_000 };
const TOO_MANY = "Too many unknown keys came from this address; try again in 1 s.";

test("an address of which many attempts fail is refused for a while, and others are not", () => {
  let nowMs = 0;
  const attempts = createFailedAttempts(() => nowMs, LIMIT, "unknown keys");
  for (let i = 0; i < 1_000; i++) {
    attempts.assertFew("192.0.2.1");
    attempts.count("192.0.2.1");
  }
  expect(() => attempts.assertFew("192.0.2.1")).toThrow(TOO_MANY);
  expect(() => attempts.assertFew("192.0.2.2")).not.toThrow();
  nowMs += 10;
  expect(() => attempts.assertFew("192.0.2.1")).not.toThrow();
});

test("addresses without number do not escape the counting", () => {
  const attempts = createFailedAttempts(() => 0, LIMIT, "unknown keys");
  for (let i = 0; i < 12_000; i++) attempts.count(`address ${i}`);
  expect(() => attempts.assertFew("address 11999")).toThrow(TOO_MANY);
});
