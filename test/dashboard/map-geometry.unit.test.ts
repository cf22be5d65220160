import { geoArea } from "d3-geo";
import type { Position } from "geojson";
import { expect, test } from "vitest";
import {
  metresPerPixel,
  placeAt,
  unbroken,
  worldFrame,
} from "../../src/dashboard/map/map-frame.ts";
import { fitProjection, rewind, type Zones } from "../../src/dashboard/map/map-geometry.ts";
import { scaleBar } from "../../src/dashboard/map/scale-bar.ts";
import { namePoint, withoutOverlaps } from "../../src/dashboard/map/zone-names.ts";

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

test("a point of the canvas is the place that is drawn there, also across the date line", () => {
  const places = [
    { lat: -16.5, lng: 179.9 },
    { lat: -17.5, lng: -179.2 },
  ];
  const projection = fitProjection([], places, { width: 400, height: 300 });
  const at = { k: 3, x: -120, y: 45 };
  for (const { lat, lng } of places) {
    const [x, y] = projection([lng, lat])!;
    const spot = [x * at.k + at.x, y * at.k + at.y] as const;
    const place = placeAt(worldFrame(projection, at), spot)!;
    expect(place.lat).toBeCloseTo(lat, 9);
    expect(place.lng).toBeCloseTo(lng, 9);
  }
});

test("nothing is at a point beyond the world's edge in the north", () => {
  expect(placeAt({ left: 0, top: 100, size: 256 }, [10, 99])).toBeUndefined();
});

test("a pixel is shorter in the north than at the equator", () => {
  const frame = { left: 0, top: 0, size: 256 };
  expect(metresPerPixel(frame, 0)).toBeCloseTo(156_543.034, 3);
  expect(metresPerPixel(frame, 60)).toBeCloseTo(78_271.517, 3);
});

test.each([
  [1, "100 m", 100],
  [0.7, "50 m", 71.43],
  [7, "500 m", 71.43],
  [25, "2 km", 80],
  [15_000, "1,000 km", 66.67],
  [0.011, "1 m", 90.91],
])("at %d metres a pixel the scale is %s long", (metres, text, width) => {
  const bar = scaleBar(metres, 100);
  expect({ ...bar, width: Number(bar.width.toFixed(2)) }).toEqual({ text, width });
});

test("the name of a zone in the form of a horseshoe is in the zone, on its larger polygon", () => {
  const horseshoe: Position[] = [
    [0, 0],
    [9, 0],
    [9, 9],
    [6, 9],
    [6, 3],
    [3, 3],
    [3, 9],
    [0, 9],
    [0, 0],
  ];
  const small = OUTLINE.map(([lng, lat]): Position => [lng! + 30, lat!]);
  const [lng, lat] = namePoint([[small], [horseshoe]] as [number, number][][][]);
  const isInside = lng < 9 && lng > 0 && lat > 0 && (lat < 3 || lng < 3 || lng > 6);
  expect({ lng, lat, isInside }).toMatchObject({ isInside: true });
});

test("a country across the date line is drawn in one piece, and a continent at the pole down to it", () => {
  const along = (ring: Position[]) => unbroken(ring).map(([x]) => Number(x.toFixed(3)));
  const across: Position[] = [
    [170, 10],
    [-170, 10],
    [-170, -10],
    [170, -10],
    [170, 10],
  ];
  expect(along(across)).toEqual([0.972, 1.028, 1.028, 0.972, 0.972]);
  expect(along(across.map(([lng, lat]) => [-lng!, lat!]))).toEqual([
    0.028, -0.028, -0.028, 0.028, 0.028,
  ]);
  const around: Position[] = [-120, 0, 120, -120].map((lng) => [lng, -70]);
  expect(along(around)).toEqual([0.167, 0.5, 0.833, 1.167, 1.167, 0.167]);
  expect(unbroken(around).at(-1)![1]).toBe(1);
});

test("of names that would lie over each other, or over a pin, only the first is shown", () => {
  const label = (text: string, x: number) => {
    return { text, at: [x, 50] as const, width: 40, height: 14 };
  };
  const pin = { left: 200, top: 40, right: 220, bottom: 60 };
  const labels = [label("Kings", 50), label("Queens", 80), label("Bronx", 120), label("Q", 215)];
  expect(withoutOverlaps(labels, [pin]).map(({ text }) => text)).toEqual(["Kings", "Bronx"]);
});
