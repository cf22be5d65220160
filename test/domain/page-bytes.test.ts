import { expect, test } from "vitest";
import { MAX_PAGE_BYTES } from "../../src/domain/limits.ts";
import { countThatFit, jsonBytes } from "../../src/domain/page-bytes.ts";

const HALF = MAX_PAGE_BYTES / 2;

test.each<[what: string, sizes: number[], count: number]>([
  ["no rows", [], 0],
  ["rows that fill it exactly", [HALF, HALF], 2],
  ["rows of which the last is a byte too large", [HALF, HALF, 1], 2],
  ["a small row behind one that does not fit", [HALF, MAX_PAGE_BYTES, 1], 1],
  ["a first row that is too large by itself", [MAX_PAGE_BYTES + 1, 1], 1],
])("a page takes, of %s, those before the bound and at least one", (_, sizes, count) => {
  expect(countThatFit(sizes, (size) => size)).toBe(count);
});

test("the bytes of a value are those of its JSON in UTF-8", () => {
  expect(jsonBytes({ a: "é\u0001" })).toBe('{"a":"é\\u0001"}'.length + 1);
});
