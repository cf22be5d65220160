import { expect, test } from "vitest";
import { readRecordId } from "../../src/db/columns.ts";

test.each([
  [1n, 1],
  [2n ** 40n, 2 ** 40],
  [2n ** 53n - 1n, 2 ** 53 - 1],
])("accepts %s as a record's id", (value, id) => {
  expect(readRecordId(value)).toBe(id);
});

test.each([undefined, 0n, -1n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)])("refuses %s as a record's id", (value) => {
  expect(readRecordId(value)).toBeUndefined();
});
