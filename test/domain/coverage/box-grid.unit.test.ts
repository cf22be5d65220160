import fc from "fast-check";
import { expect, test } from "vitest";
import { createBoxGrid, findInGrid } from "../../../src/domain/coverage/box-grid.ts";

type Box = readonly [west: number, south: number, east: number, north: number];
type Place = readonly [x: number, y: number];

/** West and south, width and height, on few coordinates, so that many boxes share edges. */
const box: fc.Arbitrary<Box> = fc
  .tuple(fc.nat(30), fc.nat(30), fc.nat(8), fc.nat(8))
  .map(([x, y, width, height]) => [x / 3, y / 3, (x + width) / 3, (y + height) / 3]);
const wideBox: fc.Arbitrary<Box> = fc.constant([0, 0, 12, 12]);
const place: fc.Arbitrary<Place> = fc
  .tuple(fc.integer({ min: -3, max: 45 }), fc.integer({ min: -3, max: 45 }))
  .map(([x, y]) => [x / 3, y / 3]);

const gridOf = (boxes: readonly Box[]) => createBoxGrid(Float64Array.from(boxes.flat()));
const contains = ([west, south, east, north]: Box, [x, y]: Place) =>
  x >= west && x <= east && y >= south && y <= north;

test("the boxes that contain a place are checked, each once and no others, unless it is crowded", () => {
  const boxes = fc.array(fc.oneof({ weight: 200, arbitrary: box }, wideBox), {
    minLength: 1,
    maxLength: 300,
    size: "max",
  });
  let crowded = 0;
  let told = 0;
  fc.assert(
    fc.property(boxes, fc.array(place, { minLength: 20 }), (all, places) => {
      const grid = gridOf(all);
      for (const [x, y] of places) {
        const checked: number[] = [];
        const found = findInGrid(grid, x, y, (i) => {
          checked.push(i);
          return false;
        });
        if (found === "crowded") {
          crowded++;
          continue;
        }
        told++;
        const expected = [...all.keys()].filter((i) => contains(all[i]!, [x, y]));
        expect(checked.toSorted((a, b) => a - b)).toEqual(expected);
        expect(found).toBe("none");
        const last = expected.at(-1);
        expect(findInGrid(grid, x, y, (i) => i === last)).toBe(
          last === undefined ? "none" : "some",
        );
      }
    }),
  );
  // Both ways were tried.
  expect(Math.min(crowded, told)).toBeGreaterThan(100);
});

test("boxes side by side leave no place crowded", () => {
  const boxes = Array.from({ length: 900 }, (_, i): Box => {
    const [x, y] = [i % 30, Math.floor(i / 30)];
    return [x, y, x + 0.9, y + 0.9];
  });
  const grid = gridOf(boxes);
  const found = boxes.map(([x, y]) => findInGrid(grid, x + 0.5, y + 0.5, () => true));
  expect(found).toEqual(boxes.map(() => "some"));
});

test.each<[string, (i: number) => Box]>([
  ["that are the same", () => [0, 0, 1, 1]],
  ["of the same place", () => [7, 7, 7, 7]],
  ["on one meridian", (i) => [7, i / 1_000, 7, i / 1_000]],
  ["of which each holds those before it", (i) => [-i / 1_000, -i / 1_000, i / 1_000, i / 1_000]],
])("100,000 boxes %s take no more memory than others", (_, boxOf) => {
  const count = 100_000;
  const grid = gridOf(Array.from({ length: count }, (_box, i) => boxOf(i)));
  expect(grid.cellStart.length).toBeLessThan(6 * count);
  expect(grid.items.length).toBeLessThan(40 * count);
});
