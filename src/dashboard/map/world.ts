import type { Coordinate } from "ol/coordinate.js";
import { createEmpty, type Extent, extend, getWidth } from "ol/extent.js";
import MultiPolygon from "ol/geom/MultiPolygon.js";
import type Polygon from "ol/geom/Polygon.js";

export type Area = Polygon | MultiPolygon;

/** Side length of the Web Mercator world, in meters. Maps repeat this square to the west and east. */
export const WORLD = 2 * Math.PI * 6_378_137;

/** Shifts a coordinate to the repetition of the world nearest to another coordinate. */
export function nearestTo([near]: Coordinate, [x, y]: Coordinate): [number, number] {
  return [x! + WORLD * Math.round((near! - x!) / WORLD), y!];
}

/** Returns an extent that contains all given extents. It crosses the date line if that is narrower. */
export function extentAround(extents: readonly Extent[]): Extent {
  const [within, across] = [0, WORLD].map((shift) =>
    extents.reduce((sum, [west, south, east, north]) => {
      const by = west! + east! < 0 ? shift : 0;
      return extend(sum, [west! + by, south!, east! + by, north!]);
    }, createEmpty()),
  );
  return getWidth(across!) < getWidth(within!) ? across! : within!;
}

export function polygonsOf(area: Area): readonly Polygon[] {
  return area instanceof MultiPolygon ? area.getPolygons() : [area];
}

export function largestOf(area: Area): Polygon {
  return polygonsOf(area).reduce((one, other) => (other.getArea() > one.getArea() ? other : one));
}

/**
 * Returns an area in one piece, even if its rings cross the date line. Such rings extend beyond the
 * world's side. A ring around the south pole is closed along the lower edge.
 */
export function unbroken(area: Area): MultiPolygon {
  const polygons = polygonsOf(area).map((polygon) => polygon.getCoordinates().map(unbrokenRing));
  const sides = polygons.flatMap((rings) => {
    const along = rings[0]!.map(([x]) => x!);
    const beyond = [
      ...(Math.max(...along) > WORLD / 2 ? [-WORLD] : []),
      ...(Math.min(...along) < -WORLD / 2 ? [WORLD] : []),
    ];
    return [0, ...beyond].map((by) => rings.map((ring) => ring.map(([x, y]) => [x! + by, y!])));
  });
  return new MultiPolygon(sides);
}

function unbrokenRing(ring: readonly Coordinate[]): Coordinate[] {
  let before = ring[0]!;
  const spots = ring.map((coordinate) => (before = nearestTo(before, coordinate)));
  const ends = [spots.at(-1)!, spots[0]!];
  const isAround = Math.abs(ends[0]![0]! - ends[1]![0]!) > 1;
  return isAround ? [...spots, ...ends.map(([x]) => [x!, -WORLD / 2])] : spots;
}
