import { geoArea } from "d3-geo";
import type { Position } from "geojson";
import { expect, test } from "vitest";
import { fitProjection, rewind, type Zones } from "../../src/dashboard/map/map-geometry.ts";

const OUTLINE: Position[] = [
  [0, 0],
  [4, 0],
  [4, 4],
  [0, 4],
  [0, 0],
];
const HOLE: Position[] = [
  [1, 1],
  [1, 2],
  [2, 2],
  [2, 1],
  [1, 1],
];

function zoneOf(...rings: Position[][]): Zones {
  const geometry = { type: "Polygon" as const, coordinates: rings };
  return {
    type: "FeatureCollection",
    features: [{ type: "Feature", properties: { name: "Zone" }, geometry }],
  };
}

test.each([
  ["as GeoJSON has them", OUTLINE, HOLE],
  ["the other way", OUTLINE.toReversed(), HOLE.toReversed()],
  ["both alike", OUTLINE, HOLE.toReversed()],
])("rings wound %s enclose the zone, not the rest of the world", (_, outline, hole) => {
  const area = geoArea(rewind(zoneOf(outline, hole)));
  expect(area).toBeCloseTo(15 * (Math.PI / 180) ** 2, 4);
});

test("a projection shows all of a zone across the date line within the frame, in one piece", () => {
  const across = zoneOf([
    [170, -10],
    [-170, -10],
    [-170, 10],
    [170, 10],
    [170, -10],
  ]);
  const projection = fitProjection([rewind(across)], [], { width: 400, height: 300 });
  const [west] = projection([170, 0])!;
  const [east] = projection([-170, 0])!;
  expect(west).toBeGreaterThan(0);
  expect(east).toBeGreaterThan(west);
  expect(east).toBeLessThan(400);
});

test("points are shown rather than zones, and a single one does not fill the world", () => {
  const place = { lat: 40, lng: -74 };
  const projection = fitProjection([zoneOf(OUTLINE)], [place], { width: 400, height: 300 });
  const [x, y] = projection([place.lng, place.lat])!;
  expect([Math.round(x), Math.round(y)]).toEqual([200, 150]);
  expect(projection.scale()).toBeLessThan(2_000_000);
});
