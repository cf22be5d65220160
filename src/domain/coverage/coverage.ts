import Flatbush from "flatbush";
import { indexBoundaries, metresToBoundary, type Boundaries } from "./nearest-boundary.ts";
import type { Point, Polygon } from "./geo.ts";
import { boundsOf, packPolygons, polygonHolds, type PackedPolygons } from "./packed-polygons.ts";
import type { ZoneIdentity } from "./zone-identities.ts";

/** An area that is served, the union of its polygons, by an id and a name that no other has. */
export interface Zone extends ZoneIdentity {
  readonly polygons: readonly Polygon[];
}

export interface Coverage {
  /** Whether a point lies in some zone. A boundary, of a hole too, belongs to its zone. */
  covers(point: Point): boolean;
  /**
   * The place in the document of the zone that a point lies in, the first where zones overlap;
   * undefined when it is not covered.
   */
  zoneAt(point: Point): number | undefined;
  /**
   * How far a point that is not covered lies from the nearest zone, where the rim of a hole belongs
   * to its zone: whole metres of a great circle, rounded up, 1 to 20,015,115; undefined when there
   * are no zones. Too far by at most a ten-thousandth, so right to a metre up to 10 km.
   */
  metresToNearestZone(point: Point): number | undefined;
}

/** The polygons of zones as look-ups need them: arrays of numbers, which can move to another thread uncopied. */
export interface IndexedZones {
  readonly packed: PackedPolygons;
  /** The place of each polygon's zone. */
  readonly zoneOf: Uint32Array<ArrayBuffer>;
  /** A Flatbush of the polygons' bounding boxes. */
  readonly boxes: ArrayBufferLike;
  readonly boundaries: Boundaries;
}

const NOWHERE: Coverage = {
  covers: () => false,
  zoneAt: () => undefined,
  metresToNearestZone: () => undefined,
};

export function createCoverage(zones: readonly Zone[]): Coverage {
  return coverageOf(indexZones(zones));
}

/** Copies zones, which must be valid, into an index; undefined when there are none. */
export function indexZones(zones: readonly Pick<Zone, "polygons">[]): IndexedZones | undefined {
  const polygons = zones.flatMap((zone) => zone.polygons);
  if (polygons.length === 0) return undefined;
  const packed = packPolygons(polygons);
  const zoneOf = Uint32Array.from(zones.flatMap((zone, i) => zone.polygons.map(() => i)));
  const boxes = indexBoxes(packed);
  // A search of the whole Earth lists the boxes in the order of their tree: neighbours together.
  const boundaries = indexBoundaries(packed, boxes.search(-180, -90, 180, 90));
  return { packed, zoneOf, boxes: boxes.data, boundaries };
}

/** One box for each polygon: one around a whole zone of scattered islands would be mostly empty. */
function indexBoxes({ coordinates, ringStart, polygonStart }: PackedPolygons): Flatbush {
  const boxes = new Flatbush(polygonStart.length - 1);
  for (const outer of polygonStart.subarray(0, -1)) {
    const bounds = boundsOf(coordinates, ringStart[outer]!, ringStart[outer + 1]!);
    boxes.add(bounds.west, bounds.south, bounds.east, bounds.north);
  }
  boxes.finish();
  return boxes;
}

/** Look-ups in an index; undefined stands for no zones. */
export function coverageOf(indexed: IndexedZones | undefined): Coverage {
  if (indexed === undefined) return NOWHERE;
  const { packed, zoneOf, boundaries } = indexed;
  const boxes = Flatbush.from(indexed.boxes);

  const someHolds = (lng: number, lat: number) =>
    boxes.collides(lng, lat, lng, lat, (polygon) => polygonHolds(packed, polygon, lng, lat));

  // At a pole every longitude is the same place, and a box that reaches one has a corner there.
  const someTouchesPole = (lat: number) => boxes.collides(-180, lat, 180, lat);

  const firstZone = (first: number, polygon: number) => Math.min(first, zoneOf[polygon]!);

  /** The place of the first zone that holds a point; Infinity for none. */
  const firstHolding = (lng: number, lat: number) =>
    boxes
      .search(lng, lat, lng, lat, (polygon) => polygonHolds(packed, polygon, lng, lat))
      .reduce(firstZone, Infinity);

  return {
    zoneAt({ lat, lng }) {
      const zone =
        Math.abs(lat) === 90
          ? boxes.search(-180, lat, 180, lat).reduce(firstZone, Infinity)
          : Math.min(
              firstHolding(lng, lat),
              Math.abs(lng) === 180 ? firstHolding(-lng, lat) : Infinity,
            );
      return zone === Infinity ? undefined : zone;
    },
    covers({ lat, lng }) {
      if (Math.abs(lat) === 90) return someTouchesPole(lat);
      // 180 and −180 are the same meridian; a zone may name it either way.
      return someHolds(lng, lat) || (Math.abs(lng) === 180 && someHolds(-lng, lat));
    },
    metresToNearestZone(point) {
      // A point can be so close that its distance comes out as 0.
      return Math.max(1, Math.ceil(metresToBoundary(boundaries, point)));
    },
  };
}
