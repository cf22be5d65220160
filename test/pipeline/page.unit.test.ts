import fc from "fast-check";
import { expect, test } from "vitest";
import {
  DEFAULT_PAGE_SIZE,
  endPage,
  readPage,
  readPageToken,
  writePageToken,
  countThatFit,
  jsonBytes,
} from "../../src/pipeline/page.ts";
import { MAX_PAGE_BYTES } from "../../src/domain/limits.ts";

const FILTERS = { workspace: 1, status: "pending", customerId: undefined };
const position = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.integer()), { maxLength: 4 });

test("a page token returns its position with the filters that it was created with", () => {
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
])("a page token is invalid with the filters %o", (filters) => {
  expect(readPageToken(writePageToken([1, "a"], FILTERS), filters)).toBeUndefined();
});

test("a page token with any changed, added or removed character is invalid", () => {
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

test("arbitrary text is an invalid page token and throws no exception", () => {
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

/** Reads the position in a list of integers. */
const readNumber = ([value]: readonly unknown[]) => (typeof value === "number" ? value : undefined);

test.each([
  ["text that is not a token", "nonsense"],
  ["a token with other filters", writePageToken([1], { workspace: 2 })],
  ["a position of another list", writePageToken(["SHP-0123456789AB"], FILTERS)],
])("refuses %s with an error for page_token", (_, pageToken) => {
  let refusal: unknown;
  try {
    readPage({ pageToken }, FILTERS, readNumber);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toMatchObject({
    reason: "FIELD_INVALID",
    violations: [{ subject: "page_token" }],
  });
});

test("a page has 25 results by default", () => {
  expect(DEFAULT_PAGE_SIZE).toBe(25);
  expect(readPage({}, FILTERS, readNumber)).toEqual({
    after: undefined,
    limit: 26,
    filters: FILTERS,
  });
});

test("paging returns every row of a list once, and the last page has no next token", () => {
  const size = fc.integer({ min: 1, max: 30 });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 90 }), size, (count, pageSize) => {
      const list = Array.from({ length: count }, (_, i) => i);
      const pages: (readonly number[])[] = [];
      let pageToken: string | undefined;
      do {
        const page = readPage({ pageSize, pageToken }, FILTERS, readNumber);
        const found = list.filter((row) => row > (page.after ?? -1)).slice(0, page.limit);
        const { rows, nextPageToken } = endPage(found, page, (row) => [row]);
        pages.push(rows);
        pageToken = nextPageToken === "" ? undefined : nextPageToken;
      } while (pageToken !== undefined);
      expect(pages.flat()).toEqual(list);
      expect(pages).toHaveLength(Math.max(1, Math.ceil(count / pageSize)));
    }),
  );
});

const HALF = MAX_PAGE_BYTES / 2;

test.each<[what: string, sizes: number[], count: number]>([
  ["no rows", [], 0],
  ["rows that fill it exactly", [HALF, HALF], 2],
  ["rows whose last is a byte too large", [HALF, HALF, 1], 2],
  ["a small row after one that does not fit", [HALF, MAX_PAGE_BYTES, 1], 1],
  ["a first row that exceeds the limit", [MAX_PAGE_BYTES + 1, 1], 1],
])("a page contains, for %s, those within the size limit and at least one", (_, sizes, count) => {
  expect(countThatFit(sizes, (size) => size)).toBe(count);
});

test("the size of a value is that of its JSON in UTF-8", () => {
  expect(jsonBytes({ a: "é\u0001" })).toBe('{"a":"é\\u0001"}'.length + 1);
});
