import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { haversineKm, type Point } from "../../../src/domain/coverage/geo.ts";

const RADIUS_KM = 6371.0088;

const somewhere = fc.record<Point>({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
});

/** Computes the distance from the angle between two unit vectors. */
function vectorKm(from: Point, to: Point): number {
  const [a, b] = [from, to].map(({ lat, lng }) => {
    const [phi, lambda] = [(lat * Math.PI) / 180, (lng * Math.PI) / 180];
    return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
  }) as [number[], number[]];
  const across = Math.hypot(...a.map((x, i) => x - b[i]!));
  const along = Math.hypot(...a.map((x, i) => x + b[i]!));
  return 2 * RADIUS_KM * Math.atan2(across, along);
}

describe("haversineKm", () => {
  test.each([
    ["a point and itself", { lat: 40.758, lng: -73.9855 }, { lat: 40.758, lng: -73.9855 }, 0],
    ["a degree of the equator", { lat: 0, lng: 0 }, { lat: 0, lng: 1 }, (RADIUS_KM * Math.PI) / 180],
    ["a quarter of a meridian", { lat: 0, lng: 20 }, { lat: 90, lng: 20 }, (RADIUS_KM * Math.PI) / 2],
    ["antipodes", { lat: 0, lng: 0 }, { lat: 0, lng: 180 }, RADIUS_KM * Math.PI],
    ["the antimeridian's two names", { lat: 10, lng: 180 }, { lat: 10, lng: -180 }, 0],
    ["a pole's many names", { lat: 90, lng: 0 }, { lat: 90, lng: 77 }, 0],
    ["Times Square to Flatbush", { lat: 40.758, lng: -73.9855 }, { lat: 40.6782, lng: -73.9442 }, 9.5316],
  ])("%s", (_, from, to, expected) => {
    expect(haversineKm(from, to)).toBeCloseTo(expected, 3);
  });

  test("is finite, symmetric and at most half the circumference", () => {
    fc.assert(
      fc.property(somewhere, somewhere, (from, to) => {
        const km = haversineKm(from, to);
        expect(km).toBeGreaterThanOrEqual(0);
        expect(km).toBeLessThanOrEqual(RADIUS_KM * Math.PI);
        expect(haversineKm(to, from)).toBeCloseTo(km, 9);
      }),
      { numRuns: 2000 },
    );
  });

  test("is finite between antipodes", () => {
    fc.assert(
      fc.property(somewhere, ({ lat, lng }) => {
        expect(haversineKm({ lat, lng }, { lat: -lat, lng: lng - 180 })).not.toBeNaN();
      }),
      { numRuns: 5_000 },
    );
  });

  test("agrees with the angle between vectors to a millimeter, away from antipodes", () => {
    fc.assert(
      fc.property(somewhere, somewhere, (from, to) => {
        const km = vectorKm(from, to);
        fc.pre(km < 19_000);
        expect(Math.abs(haversineKm(from, to) - km)).toBeLessThan(1e-6);
      }),
      { numRuns: 2000 },
    );
  });
});
