import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  invalidPageToken,
  isInstant,
  readPageToken,
  writePageToken,
} from "../../src/domain/page-token.ts";

const FILTERS = { workspace: 1, status: "pending", customerId: undefined };
const position = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.integer()), { maxLength: 4 });

test("a token leads back to the position it was written for, with the same filters", () => {
  fc.assert(
    fc.property(position, (it) => {
      const token = writePageToken(it, FILTERS);
      expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(readPageToken(token, { ...FILTERS })).toEqual(it);
    }),
  );
});

test.each([
  {},
  { ...FILTERS, workspace: 2 },
  { ...FILTERS, status: "cancelled" },
  { ...FILTERS, customerId: 1 },
  { workspace: 1, paymentStatus: "pending" },
])("with the filters %o it is none", (filters) => {
  expect(readPageToken(writePageToken([1, "a"], FILTERS), filters)).toBeUndefined();
});

test("with any character changed, added or taken away it is none", () => {
  const token = writePageToken([1_767_225_600_000, "SHP-0123456789AB"], FILTERS);
  for (let i = 0; i < token.length; i++) {
    for (const character of ["A", "z", "_", "=", "+", " ", ""]) {
      if (character === token[i]) continue;
      const changed = token.slice(0, i) + character + token.slice(i + 1);
      expect(readPageToken(changed, FILTERS), changed).toBeUndefined();
    }
  }
  for (const more of ["A", "AA", "=", "==", " ", "\n"]) {
    expect(readPageToken(token + more, FILTERS)).toBeUndefined();
    expect(readPageToken(more + token, FILTERS)).toBeUndefined();
  }
});

test("text that is no token is none, and breaks nothing", () => {
  const encoded = ["null", "1", "{}", "[]", '"x"', "[null]", "[[]]"].map((json) =>
    Buffer.from(json).toString("base64url"),
  );
  for (const text of ["", "x", "🙂", "\0", ...encoded]) {
    expect(readPageToken(text, FILTERS)).toBeUndefined();
  }
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(readPageToken(text, FILTERS)).toBeUndefined();
    }),
  );
});

describe("an instant is a whole millisecond from 1970 to 9999", () => {
  test.each([0, 1, Date.parse("9999-12-31T23:59:59.999Z")])("%s is one", (value) => {
    expect(isInstant(value)).toBe(true);
  });
  test.each([
    -1,
    0.5,
    Date.parse("9999-12-31T23:59:59.999Z") + 1,
    Number.NaN,
    Infinity,
    "0",
    null,
    undefined,
    [],
    1n,
  ])("%s is none", (value) => {
    expect(isInstant(value)).toBe(false);
  });
});

test("a token that is none is refused as that field's error", () => {
  expect(invalidPageToken()).toMatchObject({
    reason: "FIELD_INVALID",
    problems: [{ subject: "page_token" }],
  });
});
