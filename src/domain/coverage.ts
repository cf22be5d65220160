import Flatbush from "flatbush";
import type { Point, Polygon, Ring } from "./geo.ts";
import { packPolygons, polygonHolds } from "./packed-polygons.ts";

/** A named area that is served: the union of its polygons. */
export interface Zone {
  readonly name: string;
  readonly polygons: readonly Polygon[];
}

/** Where the service delivers. */
export interface Coverage {
  /** Whether a point lies in some zone. A boundary, of a hole too, belongs to its zone. */
  covers(point: Point): boolean;
}

const NOWHERE: Coverage = { covers: () => false };

/** Copies the zones, which must be valid (see `readTariff`), into an index for look-ups. */
export function createCoverage(zones: readonly Zone[]): Coverage {
  const polygons = zones.flatMap((zone) => zone.polygons);
  return polygons.length === 0 ? NOWHERE : coverageOf(polygons);
}

function coverageOf(polygons: readonly Polygon[]): Coverage {
  const boxes = indexBoxes(polygons);
  const packed = packPolygons(polygons);

  // One closure serves every look-up, since look-ups never overlap in time.
  let lng = 0;
  let lat = 0;
  const holdsPosition = (polygon: number) => polygonHolds(packed, polygon, lng, lat);

  const someHolds = (x: number, y: number) => {
    lng = x;
    lat = y;
    return boxes.collides(x, y, x, y, holdsPosition);
  };

  // At a pole every longitude is the same place, and a box that reaches one has a corner there.
  const someTouchesPole = (y: number) => boxes.collides(-180, y, 180, y);

  return {
    covers(point) {
      if (Math.abs(point.lat) === 90) return someTouchesPole(point.lat);
      // 180 and −180 are the same meridian; a zone may name it either way.
      const onAntimeridian = Math.abs(point.lng) === 180;
      return (
        someHolds(point.lng, point.lat) || (onAntimeridian && someHolds(-point.lng, point.lat))
      );
    },
  };
}

/** Boxes of single polygons: one box for a zone of scattered islands would hold much sea. */
function indexBoxes(polygons: readonly Polygon[]): Flatbush {
  const boxes = new Flatbush(polygons.length);
  for (const polygon of polygons) addBox(boxes, polygon[0] as Ring);
  boxes.finish();
  return boxes;
}

function addBox(boxes: Flatbush, outer: Ring): void {
  let west = Infinity;
  let south = Infinity;
  let east = -Infinity;
  let north = -Infinity;
  for (const [lng, lat] of outer as readonly (readonly [number, number])[]) {
    if (lng < west) west = lng;
    if (lng > east) east = lng;
    if (lat < south) south = lat;
    if (lat > north) north = lat;
  }
  boxes.add(west, south, east, north);
}
