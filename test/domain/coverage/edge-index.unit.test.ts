import { expect, test } from "vitest";
import { polygonError } from "../../../src/domain/coverage/polygon-error.ts";
import { stridedPermutation } from "../../../src/domain/coverage/edge-index.ts";

test("a strided permutation contains each number once", () => {
  for (let count = 0; count < 500; count++) {
    const sorted = stridedPermutation(count).toSorted();
    expect([...sorted]).toEqual(Array.from({ length: count }, (_, i) => i));
  }
});

test("refuses a degenerate ring of 1.5 million positions, which would take days if every pair of edges were compared", () => {
  const line: [number, number][] = Array.from({ length: 1_500_000 }, (_, i) => [i * 8e-5, 0]);
  expect(polygonError([[...line, [0, 0]]])).toBe(
    "the outer ring runs back over itself near [119.99992, 0]; remove the doubled stretch",
  );
});
