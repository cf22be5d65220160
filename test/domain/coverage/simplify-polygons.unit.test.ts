import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ring } from "../../support/tariffs.ts";
import { indexBoundaries, metersToBoundary } from "../../../src/domain/coverage/nearest-boundary.ts";
import type { Polygon, Position } from "../../../src/domain/coverage/geo.ts";
import { packPolygons } from "../../../src/domain/coverage/packed-polygons.ts";
import { polygonError } from "../../../src/domain/coverage/polygon-error.ts";
import { validZones } from "../../../src/domain/coverage/parse-zones.ts";
import { ringError } from "../../../src/domain/coverage/ring-error.ts";
import { simplifyPolygons } from "../../../src/domain/coverage/simplify-polygons.ts";
import { countyTariff } from "../../support/county-tariff.ts";

/** Tolerance factor: computed distances are up to a ten-thousandth too long. */
const MEASURED = 1.0002;

/** Returns the maximum distance of a vertex of some polygons from the outlines of others, in meters. */
function farthestM(polygons: readonly Polygon[], from: readonly Polygon[]): number {
  const order = from.map((_, i) => i);
  const boundaries = indexBoundaries(packPolygons(from), order);
  const distances = polygons.flat(2).map(([lng, lat]) => metersToBoundary(boundaries, { lng: lng!, lat: lat! }));
  return distances.reduce((most, distance) => Math.max(most, distance), 0);
}

function expectValid(polygons: readonly Polygon[]): void {
  for (const polygon of polygons) {
    const errors = [...polygon.map((ring) => ringError(ring)), polygonError(polygon)];
    expect(errors.filter((error) => error !== undefined)).toEqual([]);
  }
}

/** Returns a ring around a point, with corners at these distances in degrees of latitude. */
function star(lng: number, lat: number, radii: readonly number[], turned = false): Position[] {
  const wide = 1 / Math.cos((lat * Math.PI) / 180);
  const corners = radii.map((radius, i) => {
    const angle = ((turned ? -i : i) / radii.length) * 2 * Math.PI;
    return [lng + radius * wide * Math.cos(angle), lat + radius * Math.sin(angle)];
  });
  return [...corners, corners[0]!];
}

const anyStar = fc
  .record({
    lng: fc.double({ min: -170, max: 170, noNaN: true }),
    lat: fc.double({ min: -80, max: 80, noNaN: true }),
    size: fc.constantFrom(1e-5, 0.001, 0.01, 0.1, 1),
    outer: fc.array(fc.double({ min: 0.6, max: 1, noNaN: true }), { minLength: 3, maxLength: 200 }),
    hole: fc.option(fc.array(fc.double({ min: 0.1, max: 0.4, noNaN: true }), { minLength: 3, maxLength: 50 })),
  })
  .map(({ lng, lat, size, outer, hole }): Polygon => {
    const sized = (radii: readonly number[]) => radii.map((radius) => radius * size);
    const outline = star(lng, lat, sized(outer));
    return hole === null ? [outline] : [outline, star(lng, lat, sized(hole), true)];
  })
  .filter((polygon) => polygonError(polygon) === undefined);

const anyTolerance = fc.constantFrom(1, 2, 5, 10, 50, 100, 1_000, 5_000, 20_000, 100_000);

describe("simplifying polygons", () => {
  test("moves no outline by more than the tolerance and keeps each valid", () => {
    fc.assert(
      fc.property(anyStar, anyTolerance, (polygon, toleranceM) => {
        const simplified = simplifyPolygons([polygon], toleranceM);
        expectValid(simplified);
        expect(simplified[0]!.length).toBe(polygon.length);
        expect(farthestM([polygon], simplified)).toBeLessThanOrEqual(toleranceM * MEASURED);
        expect(farthestM(simplified, [polygon])).toBeLessThanOrEqual(toleranceM * MEASURED);
      }),
      { numRuns: 150 },
    );
  });

  test("reduces positions and decimals", () => {
    const radii = Array.from({ length: 1_000 }, (_, i) => 1 + 0.0001 * Math.sin(i));
    const [[ring]] = simplifyPolygons([[star(10, 50, radii)]], 1_000) as [[Position[]]];
    expect(ring.length).toBeLessThan(60);
    const numbers = ring.flat().map(String);
    expect(numbers.filter((number) => !/^-?\d+(\.\d{1,3})?$/.test(number))).toEqual([]);
  });

  test("keeps a shared border identical on both sides, in either direction", () => {
    const border = Array.from({ length: 400 }, (_, i) => [
      5 + 0.01 * Math.sin(i / 3) + 0.1 * Math.sin(i / 50),
      45 + i / 400,
    ]);
    const west: Polygon = [closed([[4, 45], ...border, [4, 46]])];
    const east: Polygon = [closed([[6, 46], ...border.toReversed(), [6, 45]])];
    const [simpleWest, simpleEast] = simplifyPolygons([west, east], 2_000) as [Polygon, Polygon];
    const inner = (polygon: Polygon) =>
      polygon[0]!
        .filter(([lng]) => lng! > 4.5 && lng! < 5.5)
        .map(String)
        .filter((text, i, all) => all.indexOf(text) === i)
        .toSorted();
    expect(inner(simpleWest)).toEqual(inner(simpleEast));
    expect(inner(simpleWest).length).toBeLessThan(100);
    expect(inner(simpleWest).length).toBeGreaterThan(5);
  });

  test("keeps an enclave identical to its hole, wherever their rings start", () => {
    const radii = Array.from({ length: 300 }, (_, i) => 0.5 + 0.02 * Math.sin(i * 7));
    const enclave = star(0, 0, radii).slice(0, -1);
    const hole = enclave.toReversed();
    const turned = [...enclave.slice(100), ...enclave.slice(0, 100)];
    const around = closed(ring("-2 -2, 2 -2, 2 2, -2 2"));
    const [outside, inside] = simplifyPolygons([[around, closed(hole)], [closed(turned)]], 1_000);
    const corners = (ring: readonly Position[]) => [...new Set(ring.map(String))].toSorted();
    expect(corners(outside![1]!)).toEqual(corners(inside![0]!));
  });

  test("keeps three corners, with enough decimals, if all positions are close together", () => {
    const tiny = star(
      10,
      50,
      Array.from({ length: 30 }, () => 0.0001),
    );
    const [[ring]] = simplifyPolygons([[tiny]], 100_000) as [[Position[]]];
    expectValid([[ring]]);
    expect(ring.length).toBeGreaterThanOrEqual(4);
  });

  test("keeps more positions if a ring would cross itself", () => {
    // Two long parallel needles. Without its tip, one of them would cross the other.
    const comb: Position[] = [[0, 0]];
    for (let i = 0; i < 60; i++) {
      comb.push([i * 0.001, 1 + 0.004 * Math.sin(i)], [i * 0.001 + 0.0005, 0.001 * (i % 3)]);
    }
    const polygon = [closed([...comb, [0.06, -0.1], [0, -0.1]])];
    expectValid([polygon]);
    for (const toleranceM of [10, 50, 100, 500, 5_000]) {
      const simplified = simplifyPolygons([polygon], toleranceM);
      expectValid(simplified);
      expect(farthestM([polygon], simplified)).toBeLessThanOrEqual(toleranceM * MEASURED);
    }
  });

  test("takes time that grows little faster than the number of positions, for any shape", () => {
    // Each vertex is farther out than all others together, which makes splitting by distance one-sided.
    const spiral = Array.from({ length: 100_000 }, (_, i) => [1e-3 * i ** 1.5 * 1e-4, (i % 2) * 1e-6 * i]);
    const simplify = (count: number) => {
      const polygon = [closed([...spiral.slice(0, count), [20, -10], [0, -10]])];
      const before = process.cpuUsage();
      expect(simplifyPolygons([polygon], 1)).toHaveLength(1);
      return process.cpuUsage(before).user;
    };
    const growth = () => simplify(100_000) / simplify(10_000);
    simplify(10_000);
    // With quadratic growth, ten times as many vertices take a hundred times as long. Measures
    // again in case the machine was busy.
    expect(growth() < 40 || growth() < 40).toBe(true);
  });

  test("drops altitudes and treats −0 as 0", () => {
    const west = [closed(ring("-1 0 7, 0 0 7, -0 1 7, -1 1 7"))];
    const east = [closed(ring("-0 0, 1 0, 1 1, 0 1"))];
    const simplified = simplifyPolygons([west, east], 1);
    expect(simplified.flat(2).every((position) => position.length === 2)).toBe(true);
    expectValid(simplified);
  });
});

test.each([10, 1_000, 20_000])(
  "simplifies the counties of the United States to %s m within the tolerance, and keeps them valid",
  (toleranceM) => {
    const { zones } = countyTariff() as { zones: object };
    const polygons = validZones(zones).flatMap((zone) => zone.polygons);
    const simplified = simplifyPolygons(polygons, toleranceM);
    expectValid(simplified);
    const moved = polygons.map((polygon, i) => farthestM([polygon], [simplified[i]!]));
    expect(Math.max(...moved)).toBeLessThanOrEqual(toleranceM * MEASURED);
    const count = (all: readonly Polygon[]) => all.flat(2).length;
    expect(count(simplified)).toBeLessThan(count(polygons));
  },
);

function closed(corners: readonly Position[]): Position[] {
  return [...corners, corners[0]!];
}
