import fc from "fast-check";
import { expect, test } from "vitest";
import { ring } from "../../support/tariffs.ts";
import { boundsOf, packPolygons, polygonHolds } from "../../../src/domain/coverage/packed-polygons.ts";
import pointInPolygon from "point-in-polygon-hao";

const square = ring("0 0, 4 0, 4 4, 0 4, 0 0");
const hole = ring("1 1, 1 3, 3 3, 3 1, 1 1");
const far = [
  [
    [10, 10, 99],
    [12, 10, 99],
    [10, 12, 99],
    [10, 10, 99],
  ],
];
const packed = packPolygons([[square, hole], far]);

test.each([
  ["inside", 0, 0.5, 2, true],
  ["outside, to the east", 0, 5, 2, false],
  ["outside, level with corners", 0, -1, 4, false],
  ["in the hole", 0, 2, 2, false],
  ["on an upright edge", 0, 4, 1, true],
  ["on a level edge", 0, 1, 4, true],
  ["on a level edge's line, west of it", 0, -1, 0, false],
  ["on a level edge's line, east of it", 0, 5, 0, false],
  ["on a corner", 0, 4, 4, true],
  ["on the hole's edge", 0, 1, 2, true],
  ["level with the hole's corners", 0, 0.5, 3, true],
  ["in a polygon other than the queried one", 0, 10.5, 10.5, false],
  ["in the second polygon, which has altitudes", 1, 10.5, 10.5, true],
  ["on a sloping edge", 1, 11, 11, true],
  ["just beyond a sloping edge", 1, 11, 11.000000000000002, false],
])("a point %s: packed polygon %i contains %d, %d: %s", (_, polygon, x, y, expected) => {
  expect(polygonHolds(packed, polygon, x, y)).toBe(expected);
});

test("the bounds of a range of packed positions exclude its end", () => {
  const coordinates = Float64Array.of(99, 99, 1, -2, -3, 4, 5, 0, 99, 99);
  expect(boundsOf(coordinates, 2, 8)).toEqual({ west: -3, south: -2, east: 5, north: 4 });
});

test("packed polygons agree with point-in-polygon-hao for any rings, also crossing ones", () => {
  const grid = fc.integer({ min: 0, max: 8 });
  const ring = fc
    .array(fc.tuple(grid, grid), { minLength: 3, maxLength: 8 })
    .map((corners) => [...corners, corners[0]!] as number[][]);
  const half = fc.integer({ min: -1, max: 17 }).map((n) => n / 2);
  fc.assert(
    fc.property(fc.array(ring, { minLength: 1, maxLength: 3 }), half, half, (rings, x, y) => {
      expect(polygonHolds(packPolygons([rings]), 0, x, y)).toBe(pointInPolygon([x, y], rings) !== false);
    }),
    { numRuns: 5_000 },
  );
});
