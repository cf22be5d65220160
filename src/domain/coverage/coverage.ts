import Flatbush from "flatbush";
import { indexBoundaries, metersToBoundary, type Boundaries } from "./nearest-boundary.ts";
import type { Point, Polygon } from "./geo.ts";
import { boundsOf, packPolygons, polygonHolds, type PackedPolygons } from "./packed-polygons.ts";
import type { ZoneIdentity } from "./zone-identities.ts";

/** A coverage zone: the union of its polygons, with a unique id and name. */
export interface Zone extends ZoneIdentity {
  readonly polygons: readonly Polygon[];
}

export interface Coverage {
  /** Whether a point lies in a zone. Boundaries, including those of holes, belong to the zone. */
  covers(point: Point): boolean;
  /** Returns the index of the first zone that contains a point, or `undefined` if no zone does. */
  zoneAt(point: Point): number | undefined;
  /**
   * Returns the great-circle distance from an uncovered point to the nearest zone, in whole meters,
   * rounded up, 1 to 20,015,115. Returns `undefined` if there are no zones. The relative error is
   * at most 1e-4, so the result is exact to a meter up to 10 km.
   */
  metersToNearestZone(point: Point): number | undefined;
}

/**
 * The polygons of zones and their indexes. All are typed arrays, which can be transferred to
 * another thread without copying.
 */
export interface IndexedZones {
  readonly packed: PackedPolygons;
  /** Index of each polygon's zone. */
  readonly zoneOf: Uint32Array<ArrayBuffer>;
  /** Serialized Flatbush index of the polygons' bounding boxes. */
  readonly boxes: ArrayBufferLike;
  readonly boundaries: Boundaries;
}

const NOWHERE: Coverage = {
  covers: () => false,
  zoneAt: () => undefined,
  metersToNearestZone: () => undefined,
};

export function createCoverage(zones: readonly Zone[]): Coverage {
  return coverageOf(indexZones(zones));
}

/** Indexes valid zones. Returns `undefined` if there are no polygons. */
export function indexZones(zones: readonly Pick<Zone, "polygons">[]): IndexedZones | undefined {
  const polygons = zones.flatMap((zone) => zone.polygons);
  if (polygons.length === 0) return undefined;
  const packed = packPolygons(polygons);
  const zoneOf = Uint32Array.from(zones.flatMap((zone, i) => zone.polygons.map(() => i)));
  const boxes = indexBoxes(packed);
  // A search over the whole Earth returns the polygons in tree order, so that neighbors are adjacent.
  const boundaries = indexBoundaries(packed, boxes.search(-180, -90, 180, 90));
  return { packed, zoneOf, boxes: boxes.data, boundaries };
}

/** Indexes each polygon separately, because the bounding box of a zone with scattered islands would be mostly empty. */
function indexBoxes({ coordinates, ringStart, polygonStart }: PackedPolygons): Flatbush {
  const boxes = new Flatbush(polygonStart.length - 1);
  for (const outer of polygonStart.subarray(0, -1)) {
    const bounds = boundsOf(coordinates, ringStart[outer]!, ringStart[outer + 1]!);
    boxes.add(bounds.west, bounds.south, bounds.east, bounds.north);
  }
  boxes.finish();
  return boxes;
}

/** Creates a `Coverage` from indexed zones. Pass `undefined` if there are no zones. */
export function coverageOf(indexed: IndexedZones | undefined): Coverage {
  if (indexed === undefined) return NOWHERE;
  const { packed, zoneOf, boundaries } = indexed;
  const boxes = Flatbush.from(indexed.boxes);

  const someHolds = (lng: number, lat: number) =>
    boxes.collides(lng, lat, lng, lat, (polygon) => polygonHolds(packed, polygon, lng, lat));

  // All longitudes meet at a pole, and a box that touches the pole has a corner there.
  const someTouchesPole = (lat: number) => boxes.collides(-180, lat, 180, lat);

  const firstZone = (first: number, polygon: number) => Math.min(first, zoneOf[polygon]!);

  /** Returns the index of the first zone that contains a point, or Infinity. */
  const firstHolding = (lng: number, lat: number) =>
    boxes.search(lng, lat, lng, lat, (polygon) => polygonHolds(packed, polygon, lng, lat)).reduce(firstZone, Infinity);

  return {
    zoneAt({ lat, lng }) {
      const zone =
        Math.abs(lat) === 90
          ? boxes.search(-180, lat, 180, lat).reduce(firstZone, Infinity)
          : Math.min(firstHolding(lng, lat), Math.abs(lng) === 180 ? firstHolding(-lng, lat) : Infinity);
      return zone === Infinity ? undefined : zone;
    },
    covers({ lat, lng }) {
      if (Math.abs(lat) === 90) return someTouchesPole(lat);
      // Longitudes 180 and −180 are the same meridian, and a zone can use either.
      return someHolds(lng, lat) || (Math.abs(lng) === 180 && someHolds(-lng, lat));
    },
    metersToNearestZone(point) {
      // At least 1, because the computed distance of a very close point can be 0.
      return Math.max(1, Math.ceil(metersToBoundary(boundaries, point)));
    },
  };
}
