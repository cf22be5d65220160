import fc from "fast-check";
import { expect, test } from "vitest";
import { namedPoints, scaleTo } from "../../src/dashboard/ui/chart-scale.ts";

test.each([
  [0, 4, true, 1, [0]],
  [1, 4, true, 1, [0, 1]],
  [3, 2, true, 4, [0, 2, 4]],
  [18, 4, true, 20, [0, 5, 10, 15, 20]],
  [20, 4, true, 20, [0, 5, 10, 15, 20]],
  [21, 4, true, 30, [0, 10, 20, 30]],
  [0.3, 2, false, 0.4, [0, 0.2, 0.4]],
  [1_234_567, 4, false, 1_500_000, [0, 500_000, 1_000_000, 1_500_000]],
])("an axis up to %d with about %d steps", (peak, steps, isWhole, max, ticks) => {
  expect(scaleTo(peak, steps, isWhole)).toEqual({ max, ticks });
});

test("an axis reaches any peak in few steps", () => {
  const peaks = fc.double({ min: 1e-6, max: 1e15, noNaN: true });
  fc.assert(
    fc.property(peaks, fc.boolean(), (peak, isWhole) => {
      const { max, ticks } = scaleTo(peak, 4, isWhole);
      expect(max).toBeGreaterThanOrEqual(peak * (1 - 1e-8));
      expect(ticks.length).toBeLessThanOrEqual(6);
      expect(ticks.at(-1)).toBe(max);
      if (isWhole) expect(ticks.every((tick) => tick % 1 === 0)).toBe(true);
    }),
  );
});

test.each([
  [0, 5, []],
  [1, 5, [0]],
  [2, 5, [0, 1]],
  [7, 3, [0, 3, 6]],
  [30, 4, [0, 10, 29]],
  [92, 2, [0, 91]],
  [92, 1, [0]],
])("labels are chosen for %d points with room for %d", (count, max, named) => {
  expect(namedPoints(count, max)).toEqual(named);
});
