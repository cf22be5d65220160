import { describe, expect, test } from "vitest";
import { isInstant, toInstantMs } from "../../src/domain/instant.ts";

test.each([
  [{ seconds: 1n, nanos: 0 }, 1_000, 1_000],
  [{ seconds: 1n, nanos: 1_500_000 }, 1_001, 1_002],
  [{ seconds: -1n, nanos: 999_999_999 }, -1, 0],
  [{ seconds: 253_402_300_799n, nanos: 999_999_999 }, 253_402_300_799_999, 253_402_300_799_999],
])("%o is %s ms rounded down and %s ms rounded up", (timestamp, down, up) => {
  expect(toInstantMs(timestamp, Math.floor)).toBe(down);
  expect(toInstantMs(timestamp, Math.ceil)).toBe(up);
});

test("a missing timestamp returns undefined", () => {
  expect(toInstantMs(undefined, Math.floor)).toBeUndefined();
});

describe("isInstant accepts whole milliseconds from 1970 to 9999", () => {
  test.each([0, 1, Date.parse("9999-12-31T23:59:59.999Z")])("accepts %s", (value) => {
    expect(isInstant(value)).toBe(true);
  });
  test.each([-1, 0.5, Date.parse("9999-12-31T23:59:59.999Z") + 1, Number.NaN, Infinity, "0", null, undefined, [], 1n])(
    "refuses %s",
    (value) => {
      expect(isInstant(value)).toBe(false);
    },
  );
});
