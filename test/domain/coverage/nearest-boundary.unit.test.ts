import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { indexBoundaries, metersToBoundary } from "../../../src/domain/coverage/nearest-boundary.ts";
import { haversineKm, type Point, type Polygon, type Position } from "../../../src/domain/coverage/geo.ts";
import { packPolygons } from "../../../src/domain/coverage/packed-polygons.ts";
import { square } from "../../support/tariffs.ts";
import sample from "../../../src/demo/sample-tariff.json" with { type: "json" };

const DEGREE = (6371_008.8 * Math.PI) / 180;

function metersTo(polygons: readonly Polygon[], point: Point): number {
  return metersToBoundary(indexBoundaries(packPolygons(polygons), [...polygons.keys()]), point);
}

/** Computes the distance by brute force: samples hundreds of points per edge, then more around each local minimum. */
function metersByDensifying(polygons: readonly Polygon[], point: Point): number {
  const edges = polygons.flat().flatMap((ring) => ring.slice(1).map((to, i) => [ring[i]!, to]));
  return Math.min(...edges.map(([from, to]) => metersToEdge(from!, to!, point)));
}

function metersToEdge(from: Position, to: Position, point: Point): number {
  const coarse = metersAlong(from, to, point, 0, 1, 400);
  const nearerThanNeighbours = [...coarse.keys()].filter(
    (i) => coarse[i]! < (coarse[i - 1] ?? Infinity) && coarse[i]! <= (coarse[i + 1] ?? Infinity),
  );
  return Math.min(...nearerThanNeighbours.map((i) => metersAround(from, to, point, (i - 1) / 400, (i + 1) / 400)));
}

/** Searches a segment for its minimum. Six rounds narrow 20,000 km to less than a millimeter. */
function metersAround(from: Position, to: Position, point: Point, start: number, end: number) {
  let least = Infinity;
  for (let round = 0; round < 6; round++) {
    [start, end] = [Math.max(0, start), Math.min(1, end)];
    const meters = metersAlong(from, to, point, start, end, 50);
    least = Math.min(...meters);
    const step = (end - start) / 50;
    const nearest = start + meters.indexOf(least) * step;
    [start, end] = [nearest - step, nearest + step];
  }
  return least;
}

/** Returns the distances of evenly spaced points between two fractions of an edge, in meters. */
function metersAlong(from: Position, to: Position, point: Point, start: number, end: number, steps: number): number[] {
  return Array.from({ length: steps + 1 }, (_, step) => {
    const share = start + ((end - start) * step) / steps;
    const [lng, lat] = from.map((first, i) => first + (to[i]! - first) * share) as [number, number];
    return haversineKm(point, { lat, lng }) * 1000;
  });
}

/** Expects a value that is not below the true distance, apart from rounding, and only slightly above it. */
function expectMeters(actual: number, truth: number): void {
  expect(actual).toBeGreaterThan(truth * (1 - 1e-7) - 0.01);
  expect(actual).toBeLessThan(truth * (1 + 1.1e-4) + 0.05);
}

const box = (...sides: Parameters<typeof square>): number[][] => square(...sides)[0]!;

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const lng = fc.oneof(between(-180, 180), between(-180, -179.9), between(179.9, 180));
const lat = fc.oneof(between(-90, 90), between(-90, -89.9), between(89.9, 90), between(-0.1, 0.1));
const anyPoint = fc.record<Point>({ lat, lng });

function clamped(value: number, limit: number): number {
  return Math.max(-limit, Math.min(limit, value));
}

/**
 * Arbitrary polygons from a millionth of a degree to 80 degrees across, or wider, both near the target and elsewhere.
 */
const polygonAround = (target: Point) =>
  fc
    .record({
      center: fc.oneof(fc.constant(target), anyPoint),
      degrees: between(-6, Math.log10(40)).map((digits) => 10 ** digits),
      widening: fc.oneof(fc.constant(1), between(1, 1000)),
      offsets: fc.array(fc.tuple(between(-1, 1), between(-1, 1)), { minLength: 3, maxLength: 5 }),
      aside: fc.tuple(between(-3, 3), between(-3, 3)),
    })
    .map(({ center, degrees, widening, offsets, aside }) => {
      const west = center.lng + aside[0] * degrees;
      // Across the antimeridian, longitudes continue on the other side.
      const turn = west > 180 ? -360 : west < -180 ? 360 : 0;
      const halfWidth = Math.min(90, degrees * widening);
      const corners = offsets.map(([x, y]) => [
        clamped(west + turn + x * halfWidth, 180),
        clamped(center.lat + (aside[1] + y) * degrees, 90),
      ]);
      return [[...corners, corners[0]!]];
    });

const scene = (least: number, most: number) =>
  anyPoint.chain((point) =>
    fc.record({
      point: fc.constant(point),
      polygons: fc.array(polygonAround(point), { minLength: least, maxLength: most }),
    }),
  );

test("the distance to a boundary matches that to densified edges, for polygons of all sizes anywhere on the globe", () => {
  fc.assert(
    fc.property(scene(1, 3), ({ point, polygons }) => {
      expectMeters(metersTo(polygons, point), metersByDensifying(polygons, point));
    }),
    { numRuns: 400 },
  );
});

test("the distance to several polygons, in any order, is that to the nearest one", () => {
  fc.assert(
    fc.property(scene(50, 300), ({ point, polygons }) => {
      const nearest = Math.min(...polygons.map((polygon) => metersTo([polygon], point)));
      expectMeters(metersTo(polygons, point), nearest / (1 + 1e-4));
      expectMeters(metersTo(polygons.toReversed(), point), nearest / (1 + 1e-4));
    }),
    { numRuns: 80 },
  );
});

test("the distance to a boundary matches that to densified edges, for rings with many edges", () => {
  const ring = fc.array(between(1, 5), { minLength: 40, maxLength: 100 }).map((radii) => {
    const corners = radii.map((radius, i) => {
      const angle = (i / radii.length) * 2 * Math.PI;
      return [radius * Math.cos(angle), 60 + radius * Math.sin(angle)];
    });
    return [...corners, corners[0]!];
  });
  fc.assert(
    fc.property(ring, between(-10, 10), between(50, 70), (corners, x, y) => {
      const point = { lat: y, lng: x };
      expectMeters(metersTo([[corners]], point), metersByDensifying([[corners]], point));
    }),
    { numRuns: 20 },
  );
});

describe("computes the distance to", () => {
  const cap = [[box(-180, 80, 180, 90)]];
  const belt = [[box(-180, -10, 180, 10)]];
  const acrossThePole = haversineKm({ lat: 89.5, lng: -75 }, { lat: 89.5, lng: 100 }) * 1000;
  const toAntipodes = haversineKm({ lat: 0, lng: 180 }, { lat: 1, lng: 1 }) * 1000;
  test.each<[string, Polygon[], number, number, number]>([
    ["a level edge, whose great circle leads elsewhere", [[box(0, 50, 60, 60)]], 49, 30, DEGREE],
    ["an upright edge", [[box(1, -1, 2, 1)]], 0, 0, DEGREE],
    ["a corner", [[box(1, 0, 2, 1)]], 0, 0, DEGREE],
    ["the rim of a hole", [[box(0, -9, 18, 9), box(5, -2, 9, 2)]], 0, 6, DEGREE],
    ["an edge beyond the antimeridian, to the east", [[box(-179.5, -1, -170, 1)]], 0, 179.5, DEGREE],
    ["an edge beyond the antimeridian, to the west", [[box(170, -1, 179.5, 1)]], 0, -179.5, DEGREE],
    ["an edge across the pole", [[box(100, 80, 110, 89.5)]], 89.5, -75, acrossThePole],
    ["an edge, from the pole", [[box(100, 80, 110, 89)]], 90, 0, DEGREE],
    ["a parallel around the Earth", cap, 79, 33, DEGREE],
    ["a parallel with equally near points", belt, 90, 0, 80 * DEGREE],
    ["an edge on the far side of the Earth", [[box(-1, -1, 1, 1)]], 0, 180, toAntipodes],
    ["a zone too small to have a size", [[box(0, 1, 0, 1)]], 0, 0, DEGREE],
  ])("%s", (_, polygons, latitude, longitude, meters) => {
    expectMeters(metersTo(polygons, { lat: latitude, lng: longitude }), meters);
  });
});

test("antipodes do not stop the search, however the distance to them rounds", () => {
  fc.assert(
    fc.property(anyPoint, (point) => {
      const [x, y] = [point.lng > 0 ? point.lng - 180 : point.lng + 180, -point.lat];
      const corner = [x, y > 0 ? y - 20 : y + 20];
      const ring = [[x, y], [x, y], corner, [x, y]];
      expectMeters(metersTo([[ring]], point), 160 * DEGREE);
    }),
    // Floating-point error: the chord from this point to its antipode is computed as 2.0000000000000004 radii.
    { numRuns: 2000, examples: [[{ lat: 30.489132050978796, lng: -30.849025348307237 }]] },
  );
});

test("a point on a boundary has a distance of 0 m", () => {
  expect(metersTo([[box(0, 0, 10, 10)]], { lat: 10, lng: 3 })).toBeLessThan(0.01);
});

test("the distance to a boundary matches that to densified edges around New York City", () => {
  const polygons: Polygon[] = sample.zones.features.map(({ geometry }) => geometry.coordinates);
  fc.assert(
    fc.property(between(40.2, 41.2), between(-75, -73), (y, x) => {
      const point = { lat: y, lng: x };
      expectMeters(metersTo(polygons, point), metersByDensifying(polygons, point));
    }),
    { numRuns: 20 },
  );
});
