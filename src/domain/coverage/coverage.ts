import Flatbush from "flatbush";
import { indexBoundaries, type Boundaries } from "./boundaries.ts";
import { createBoxGrid, findInGrid, type BoxGrid } from "./box-grid.ts";
import type { Point, Polygon } from "./geo.ts";
import { metresToBoundary } from "./nearest-boundary.ts";
import { boundsOf, packPolygons, polygonHolds } from "./packed-polygons.ts";
import type { PackedPolygons } from "./packed-polygons.ts";
import { scatteredOrder } from "./scattered-order.ts";
import type { ZoneIdentity } from "./zone-identities.ts";

/** An area that is served, the union of its polygons, by an id and a name that no other has. */
export interface Zone extends ZoneIdentity {
  readonly polygons: readonly Polygon[];
}

/** Where the service delivers. */
export interface Coverage {
  /** Whether a point lies in some zone. A boundary, of a hole too, belongs to its zone. */
  covers(point: Point): boolean;
  /**
   * How far a point that is not covered lies from the nearest zone, where the rim of a hole belongs
   * to its zone: whole metres of a great circle, rounded up, 1 to 20,015,115; undefined when there
   * are no zones. Too far by at most a ten-thousandth, so right to a metre up to 10 km.
   */
  metresToNearestZone(point: Point): number | undefined;
}

/** Polygons as look-ups need them: arrays of numbers, which can move to another thread uncopied. */
export interface IndexedPolygons {
  readonly packed: PackedPolygons;
  /** A Flatbush of the polygons' bounding boxes. */
  readonly boxes: ArrayBufferLike;
  /** The same boxes in a grid, which answers for most places, three times as quickly. */
  readonly grid: BoxGrid;
  readonly boundaries: Boundaries;
}

const NOWHERE: Coverage = { covers: () => false, metresToNearestZone: () => undefined };

/** Copies the zones, which must be valid (see `parseTariff`), into an index for look-ups. */
export function createCoverage(zones: readonly Zone[]): Coverage {
  return coverageOf(indexPolygons(zones.flatMap((zone) => zone.polygons)));
}

/** Copies polygons, which must be sound, into an index; undefined when there are none. */
export function indexPolygons(polygons: readonly Polygon[]): IndexedPolygons | undefined {
  if (polygons.length === 0) return undefined;
  const scattered = Array.from(scatteredOrder(polygons.length), (i) => polygons[i] as Polygon);
  const packed = packPolygons(scattered);
  const bounds = boundsOfPolygons(packed);
  const boxes = indexBoxes(bounds);
  // A search of the whole Earth lists the boxes in the order of their tree: neighbours together.
  const boundaries = indexBoundaries(packed, boxes.search(-180, -90, 180, 90));
  return { packed, boxes: boxes.data, grid: createBoxGrid(bounds), boundaries };
}

/** Look-ups in an index; undefined stands for no zones. */
export function coverageOf(indexed: IndexedPolygons | undefined): Coverage {
  if (indexed === undefined) return NOWHERE;
  const { packed, grid, boundaries } = indexed;
  const boxes = Flatbush.from(indexed.boxes);

  // Look-ups are synchronous, so that one closure can serve all of them.
  let lng = 0;
  let lat = 0;
  const holdsPosition = (polygon: number) => polygonHolds(packed, polygon, lng, lat);

  const someHolds = (x: number, y: number) => {
    lng = x;
    lat = y;
    const found = findInGrid(grid, x, y, holdsPosition);
    return found === "crowded" ? boxes.collides(x, y, x, y, holdsPosition) : found === "some";
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
    metresToNearestZone(point) {
      // A point can be so close that its distance comes out as 0.
      return Math.max(1, Math.ceil(metresToBoundary(boundaries, point)));
    },
  };
}

/** One box per polygon: one around a whole zone of scattered islands would be mostly empty. */
function boundsOfPolygons({ coordinates, ringStart, polygonStart }: PackedPolygons): Float64Array {
  const count = polygonStart.length - 1;
  const boxes = new Float64Array(count * 4);
  for (let polygon = 0; polygon < count; polygon++) {
    const outer = polygonStart[polygon] as number;
    const start = ringStart[outer] as number;
    const { west, south, east, north } = boundsOf(
      coordinates,
      start,
      ringStart[outer + 1] as number,
    );
    boxes.set([west, south, east, north], polygon * 4);
  }
  return boxes;
}

function indexBoxes(bounds: Float64Array): Flatbush {
  const boxes = new Flatbush(bounds.length / 4);
  for (let i = 0; i < bounds.length; i += 4) {
    boxes.add(...(bounds.subarray(i, i + 4) as unknown as [number, number, number, number]));
  }
  boxes.finish();
  return boxes;
}
