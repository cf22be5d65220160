import { expect, test } from "vitest";
import { polygonError } from "../../../src/domain/coverage/polygon-error.ts";
import { stridedPermutation } from "../../../src/domain/coverage/edge-index.ts";

test("a strided permutation has each number once, whatever the count", () => {
  for (let count = 0; count < 500; count++) {
    const sorted = stridedPermutation(count).toSorted();
    expect([...sorted]).toEqual(Array.from({ length: count }, (_, i) => i));
  }
});

test("a ring of one and a half million positions in a line is refused, which would take days were each edge compared with each other", () => {
  const line: [number, number][] = Array.from({ length: 1_500_000 }, (_, i) => [i * 8e-5, 0]);
  expect(polygonError([[...line, [0, 0]]])).toBe(
    "the outer ring runs back over itself near [119.99992, 0]; remove the doubled stretch",
  );
});
