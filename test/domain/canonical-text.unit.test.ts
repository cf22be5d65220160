import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalText } from "../../src/domain/canonical-text.ts";

test("canonical text sorts keys at every depth and keeps the order of lists", () => {
  const text = '{ "b": [ {"z": 1, "y": [3, 2.50]}, null ], "a": {"d": true, "c": "x"} }';
  expect(canonicalText(JSON.parse(text))).toBe('{"a":{"c":"x","d":true},"b":[{"y":[3,2.5],"z":1},null]}');
});

test.each([
  ["the order of a list", [1, 2], [2, 1]],
  ["a value", { a: "5.00" }, { a: "5.0" }],
  ["an unknown key", { a: 1 }, { a: 1, note: "" }],
  ["null and absence", { a: null }, {}],
  ["a number and its text", { a: 1 }, { a: "1" }],
])("canonical text differs when %s differs", (_, one, other) => {
  expect(canonicalText(one)).not.toBe(canonicalText(other));
});

test("canonical text does not depend on the order of keys and keeps all data", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(canonicalText(reversed(value))).toBe(canonicalText(value));
      expect(JSON.parse(canonicalText(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 1000 },
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

test("canonical text treats __proto__ as an ordinary key", () => {
  expect(canonicalText(JSON.parse('{"b":1,"__proto__":{"c":2}}'))).toBe('{"__proto__":{"c":2},"b":1}');
});

test("refuses a document nested deeper than 100 levels", () => {
  const nested = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth));
  expect(canonicalText(nested(100))).toBe("[".repeat(100) + "]".repeat(100));
  expect(() => canonicalText(nested(101))).toThrow(RangeError);
  expect(() => canonicalText(nested(1_000_000))).toThrow("nested deeper than 100 levels");
});
