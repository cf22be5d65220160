import fc from "fast-check";
import { expect, test } from "vitest";
import { Refusal } from "../../../src/domain/refusal.ts";
import { mergeMetadata } from "../../../src/features/shipments/merge-metadata.ts";

test("given notes are put over those there are, and a blank one removes", () => {
  const current = { a: "1", b: "2", c: "3" };
  expect(mergeMetadata(current, { a: "new", b: "", d: "4", e: "" })).toEqual({
    a: "new",
    c: "3",
    d: "4",
  });
  expect(current).toEqual({ a: "1", b: "2", c: "3" });
});

test("twenty are the most, counted when all is done", () => {
  const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, "v"]));
  expect(mergeMetadata(twenty, {})).toEqual(twenty);
  expect(Object.keys(mergeMetadata(twenty, { more: "v", k0: "" }))).toHaveLength(20);
  expect(() => mergeMetadata(twenty, { more: "v" })).toThrow(
    new Refusal([
      {
        reason: "FIELD_INVALID",
        subject: "metadata",
        text: "metadata must have at most 20 keys.",
      },
    ]),
  );
});

test("names of an object's own making are notes like others", () => {
  const notes = { constructor: "a", toString: "b", hasOwnProperty: "c" };
  expect(mergeMetadata({}, notes)).toEqual(notes);
  expect(mergeMetadata(notes, { constructor: "" })).toEqual({ toString: "b", hasOwnProperty: "c" });
});

test("the same notes given twice change nothing the second time", () => {
  const notes = fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ maxLength: 2 }), {
    maxKeys: 9,
  });
  fc.assert(
    fc.property(notes, notes, (current, given) => {
      const once = mergeMetadata(mergeMetadata({}, current), given);
      expect(mergeMetadata(once, given)).toEqual(once);
      expect(Object.values(once)).not.toContain("");
    }),
  );
});
