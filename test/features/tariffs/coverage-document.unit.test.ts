import { describe, expect, test } from "vitest";
import type { Zone } from "../../../src/domain/coverage/coverage.ts";
import { coverageDocument, roundedToleranceM } from "../../../src/features/tariffs/tasks/coverage-document.ts";
import type { Polygon } from "../../../src/domain/coverage/geo.ts";
import { square } from "../../support/tariffs.ts";

const zoneOf = (name: string, ...polygons: Polygon[]): Zone => ({
  id: `z_${name}`,
  name,
  polygons,
});
const read = (zones: Zone[], toleranceM: number) => JSON.parse(coverageDocument(zones, toleranceM));
const feature = (name: string, geometry: object) => ({
  type: "Feature",
  id: `z_${name}`,
  properties: { name },
  geometry,
});

test.each([
  [0, 0],
  [0.999, 0],
  [1, 1],
  [1.9, 1],
  [2, 2],
  [4.99, 2],
  [5, 5],
  [9.9, 5],
  [10, 10],
  [999, 500],
  [1_000, 1_000],
  [49_999, 20_000],
  [99_999, 50_000],
  [100_000, 100_000],
])("a tolerance of %s m is rounded down to %s m", (askedM, toleranceM) => {
  expect(roundedToleranceM(askedM)).toBe(toleranceM);
});

describe("a coverage document", () => {
  test("has a feature with id and name for each zone, and the exact outlines at tolerance 0", () => {
    const [outer] = square(10.123456789, 50, 11, 51) as [[number, number][]];
    const [hole] = square(10.2, 50.2, 10.3, 50.3) as [[number, number][]];
    const islands = [square(1, 1, 2, 2), square(3, 3, 4, 4)] as const;
    const zones = [zoneOf("a", [outer, hole]), zoneOf("b", ...islands)];
    expect(read(zones, 0)).toEqual({
      type: "FeatureCollection",
      features: [
        feature("a", { type: "Polygon", coordinates: [outer, hole.toReversed()] }),
        feature("b", { type: "MultiPolygon", coordinates: islands }),
      ],
    });
  });

  test("has counterclockwise outer rings and clockwise holes, regardless of the input", () => {
    const [outer] = square(0, 0, 9, 9) as [[number, number][]];
    const [hole] = square(1, 1, 2, 2) as [[number, number][]];
    const { features } = read([zoneOf("a", [outer.toReversed(), hole.toReversed()])], 0);
    expect(features[0].geometry.coordinates).toEqual([outer, hole.toReversed()]);
  });

  test("omits altitudes", () => {
    const ring = square(0, 0, 1, 1)[0]!;
    const high: Polygon = [ring.map(([lng, lat]) => [lng, lat, 300])];
    expect(read([zoneOf("a", high)], 0).features[0].geometry.coordinates).toEqual([ring]);
  });

  test("omits holes and islands within the tolerance, but keeps every zone", () => {
    const [outer] = square(0, 0, 1, 1) as [[number, number][]];
    const holeOf = (west: number, size: number) => square(west, 0.5, west + size, 0.5 + size)[0]!.toReversed();
    // An edge of 0.001 degrees is 111 m long, a diagonal 157 m.
    const [small, large] = [holeOf(0.2, 0.0005), holeOf(0.25, 0.125)];
    const zones = [
      zoneOf("a", [outer, small, large], square(2, 0, 2.0005, 0.0005), square(3, 0, 3.01, 0.01)),
      zoneOf("b", square(5, 0, 5.0001, 0.0001), square(5.1, 0, 5.1003, 0.0003)),
    ];
    const { features } = read(zones, 100);
    expect(features).toEqual([
      feature("a", {
        type: "MultiPolygon",
        coordinates: [[outer, large], square(3, 0, 3.01, 0.01)],
      }),
      feature("b", {
        type: "Polygon",
        coordinates: [Array.from({ length: 4 }, expectPosition)],
      }),
    ]);
    expect(features[1].geometry.coordinates[0][0][0]).toBeCloseTo(5.1, 2);
  });

  test("is empty if there are no zones", () => {
    expect(read([], 0)).toEqual({ type: "FeatureCollection", features: [] });
    expect(read([], 100)).toEqual({ type: "FeatureCollection", features: [] });
  });
});

const expectPosition = () => [expect.any(Number), expect.any(Number)];
