import fc from "fast-check";
import { expect, test } from "vitest";
import { arcBetween, radians } from "../../../src/domain/coverage/geo.ts";
import { arcToBox, arcToShortEdge, targetAt } from "../../../src/domain/coverage/nearest-point.ts";

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const lng = between(-180, 180);
const lat = fc.oneof(between(-90, 90), between(-90, -89), between(89, 90));
const share = between(0, 1);

test("no point in a box is nearer than the box", () => {
  fc.assert(
    fc.property(lng, lat, fc.tuple(lng, lng), fc.tuple(lat, lat), share, share, (x, y, ...box) => {
      const [lngs, lats, eastward, northward] = box;
      const [west, east] = lngs.map(radians).toSorted((a, b) => a - b) as [number, number];
      const [south, north] = lats.map(radians).toSorted((a, b) => a - b) as [number, number];
      const toBox = arcToBox(targetAt(x, y), west, south, east, north);
      const insideLat = south + (north - south) * northward;
      const insideLng = west + (east - west) * eastward;
      const toInside = arcBetween(radians(y), insideLat, insideLng - radians(x));
      expect(toBox).toBeLessThanOrEqual(toInside + 1e-7);
    }),
    { numRuns: 5_000 },
  );
});

test("the distance to an edge of up to a degree is that to its nearest point, within 0.01 % and 6 mm", () => {
  const degree = between(-1, 1);
  fc.assert(
    fc.property(lng, lat, lng, lat, degree, degree, (x, y, fromX, fromY, eastward, northward) => {
      const from = [radians(fromX), radians(fromY)] as const;
      const to = [
        radians(Math.max(-180, Math.min(180, fromX + eastward))),
        radians(Math.max(-90, Math.min(90, fromY + northward))),
      ] as const;
      const toEdge = arcToShortEdge(targetAt(x, y), ...from, ...to);
      const toPoints = Array.from({ length: 21 }, (_, i) => {
        const onLat = from[1] + ((to[1] - from[1]) * i) / 20;
        const onLng = from[0] + ((to[0] - from[0]) * i) / 20;
        return arcBetween(radians(y), onLat, onLng - radians(x));
      });
      expect(toEdge).toBeLessThanOrEqual(Math.min(...toPoints) * (1 + 1e-4) + 1e-9);
    }),
    { numRuns: 5_000 },
  );
});
