import fc from "fast-check";
import pointInPolygon from "point-in-polygon-hao";
import { describe, expect, test } from "vitest";
import { ring } from "../../support/tariffs.ts";
import { createCoverage, type Zone } from "../../../src/domain/coverage/coverage.ts";

function box(west: number, south: number, east: number, north: number): number[][] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

function zone(...polygons: number[][][][]): Zone {
  return { id: "1", name: "a zone", polygons };
}

test("covers no point without zones", () => {
  expect(createCoverage([]).covers({ lat: 0, lng: 0 })).toBe(false);
  expect(createCoverage([zone()]).covers({ lat: 90, lng: 0 })).toBe(false);
});

describe("covers returns, for a zone of two polygons, one with a hole, next to another zone", () => {
  const coverage = createCoverage([
    zone([box(0, 0, 10, 10), box(4, 4, 6, 6)], [box(20, 0, 30, 10)]),
    zone([box(-30, -10, -20, 0)]),
  ]);
  test.each([
    ["the first polygon", 1, 1, true],
    ["the second polygon", 1, 25, true],
    ["the other zone", -5, -25, true],
    ["between the polygons", 1, 15, false],
    ["the hole", 5, 5, false],
    ["the hole's boundary", 4, 5, true],
    ["the outer boundary", 10, 5, true],
    ["a corner", 0, 0, true],
    ["outside", 50, 50, false],
  ])("%s, at latitude %d and longitude %d: %s", (_, lat, lng, expected) => {
    expect(coverage.covers({ lat, lng })).toBe(expected);
  });
});

describe("covers returns, for locations with more than one pair of coordinates", () => {
  const coverage = createCoverage([
    zone([box(170, -10, 180, 10)]),
    zone([box(-180, 20, -170, 30)]),
    zone([ring("0 80, 10 80, 5 90, 0 80")]),
  ]);
  test.each([
    ["−180 is 180", 0, -180, true],
    ["180 is 180", 0, 180, true],
    ["180 is −180", 25, 180, true],
    ["180 at a latitude without a zone", 15, 180, false],
    ["−170 is not 170", 0, -170, false],
    ["the north pole has every longitude", 90, -123, true],
    ["the south pole is not the north pole", -90, 5, false],
  ])("%s, at latitude %d and longitude %d: %s", (_, lat, lng, expected) => {
    expect(coverage.covers({ lat, lng })).toBe(expected);
  });
});

test("zoneAt returns the first zone in document order that contains the point", () => {
  const coverage = createCoverage([
    zone([box(0, 0, 10, 10)], [box(20, 0, 30, 10)]),
    zone([box(5, 0, 25, 10)]),
    zone([box(170, -10, 180, 10)]),
    zone([ring("0 80, 10 80, 5 90, 0 80")]),
  ]);
  const zoneAt = (lat: number, lng: number) => coverage.zoneAt({ lat, lng });
  expect([zoneAt(5, 7), zoneAt(5, 22), zoneAt(5, 15), zoneAt(5, 25)]).toEqual([0, 0, 1, 0]);
  expect([zoneAt(0, -180), zoneAt(90, -123), zoneAt(-90, 5), zoneAt(50, 5)]).toEqual([2, 3, undefined, undefined]);
  expect(createCoverage([]).zoneAt({ lat: 0, lng: 0 })).toBeUndefined();
});

test("the distance to the nearest zone is undefined without zones", () => {
  expect(createCoverage([]).metersToNearestZone({ lat: 0, lng: 0 })).toBeUndefined();
  expect(createCoverage([zone()]).metersToNearestZone({ lat: 90, lng: 0 })).toBeUndefined();
});

describe("computes the distance in meters to the nearest zone", () => {
  const coverage = createCoverage([
    zone([box(0, 0, 10, 10), box(4, 4, 6, 6)], [box(20, 0, 30, 10)]),
    zone([box(170, -10, 180, 10)]),
    zone([box(0, 60, 10, 90)]),
  ]);
  // One degree of a great circle is 111,195.08 m long.
  test.each([
    ["to the first polygon", -1, 5, 111_196],
    ["to the second polygon", -1, 25, 111_196],
    ["to another zone, across the antimeridian", 0, -179, 111_196],
    ["to a zone beyond the pole", 89, -175, 111_196],
    ["from within a hole", 4.5, 5, 55_598],
    ["rounded up", 10.00001, 25, 2],
    // Distance to the corner at 10 degrees south: the arc cosine of sin 60° sin 10°.
    ["in whole meters, also over long distances", -60, -90, 9_045_813],
  ])("%s", (_, lat, lng, meters) => {
    expect(coverage.covers({ lat, lng })).toBe(false);
    expect(coverage.metersToNearestZone({ lat, lng })).toBe(meters);
  });
});

test("a point outside is at least 1 m away, even if its distance rounds to 0", () => {
  const slope = createCoverage([zone([ring("10 10, 12 10, 10 12, 10 10")])]);
  const justAbove = { lat: 11.750000000000002, lng: 10.25 };
  expect(slope.covers(justAbove)).toBe(false);
  expect(slope.metersToNearestZone(justAbove)).toBe(1);
});

test("covers agrees with checking every polygon, for many triangles and points", () => {
  const grid = fc.integer({ min: 0, max: 40 });
  const corner = fc.tuple(grid, grid);
  const triangle = fc.tuple(corner, corner, corner).map(([a, b, c]) => [[a, b, c, a]]);
  fc.assert(
    fc.property(
      fc.array(triangle, { minLength: 1, maxLength: 60 }),
      fc.array(corner, { minLength: 1, maxLength: 20 }),
      (polygons, points) => {
        const coverage = createCoverage(polygons.map((polygon) => zone(polygon)));
        for (const [lng, lat] of points) {
          expect(coverage.zoneAt({ lat, lng }) !== undefined).toBe(coverage.covers({ lat, lng }));
          expect(coverage.covers({ lat, lng })).toBe(
            polygons.some((polygon) => pointInPolygon([lng, lat], polygon) !== false),
          );
        }
      },
    ),
    { numRuns: 500 },
  );
});
