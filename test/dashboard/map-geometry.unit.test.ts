import Polygon from "ol/geom/Polygon.js";
import { expect, test } from "vitest";
import { scaleBar } from "../../src/dashboard/map/scale-bar.ts";
import { extentAround, nearestTo, unbroken, WORLD } from "../../src/dashboard/map/world.ts";

test("the extent across the date line is contiguous", () => {
  const [east, west] = [0.48 * WORLD, -0.49 * WORLD];
  expect(
    extentAround([
      [east, 0, east + 1, 1],
      [west, 0, west + 1, 1],
    ]),
  ).toEqual([east, 0, west + WORLD + 1, 1]);
  expect(nearestTo([east, 0], [west, 5])).toEqual([west + WORLD, 5]);
  expect(
    extentAround([
      [-3, 0, -1, 1],
      [2, 0, 4, 1],
    ]),
  ).toEqual([-3, 0, 4, 1]);
});

test.each([
  [1, "100 m", 100],
  [0.7, "50 m", 71.43],
  [7, "500 m", 71.43],
  [25, "2 km", 80],
  [15_000, "1,000 km", 66.67],
  [0.011, "1 m", 90.91],
])("at %d meters per pixel the scale bar shows %s", (meters, text, width) => {
  const bar = scaleBar(meters, 100);
  expect({ ...bar, width: Number(bar.width.toFixed(2)) }).toEqual({ text, width });
});

test("a country across the date line is drawn once on each side, and a polar continent down to the pole", () => {
  const ring = (...along: number[]) => new Polygon([along.map((x, i) => [x * WORLD, i % 3])]);
  const drawn = (polygon: Polygon) =>
    unbroken(polygon)
      .getCoordinates()
      .map(([outline]) => outline!.map(([x]) => Number((x! / WORLD).toFixed(3))));
  expect(drawn(ring(0.47, -0.47, -0.47, 0.47, 0.47))).toEqual([
    [0.47, 0.53, 0.53, 0.47, 0.47],
    [-0.53, -0.47, -0.47, -0.53, -0.53],
  ]);
  const around = unbroken(ring(-0.3, 0, 0.3, -0.3)).getCoordinates()[0]![0];
  expect(around!.slice(-2).map(([x, y]) => [x! / WORLD, y! / WORLD])).toEqual([
    [0.7, -0.5],
    [-0.3, -0.5],
  ]);
});
