import { EARTH_RADIUS_KM, radians, type Point } from "./geo.ts";
import { arcToBox, arcToShortEdge, targetAt, type Target } from "./nearest-point.ts";
import { boundsOf, type PackedPolygons } from "./packed-polygons.ts";

/**
 * The boundaries of polygons, cut into stretches of a few edges, with a binary tree of bounding
 * boxes over them. Stretch s has the positions stretchStart[s] to stretchEnd[s], inclusive. The
 * root is node 1, and node n has the children 2n and 2n + 1. The leaves are the stretches. A box is
 * four single-precision numbers: west, south, east and north in degrees.
 */
export interface Boundaries {
  readonly coordinates: Float64Array;
  readonly stretchStart: Uint32Array;
  readonly stretchEnd: Uint32Array;
  readonly boxes: Float32Array;
}

/**
 * Maximum number of edges in a stretch: small enough to measure every edge, and large enough to keep the tree small.
 */
const EDGES_PER_STRETCH = 16;

/**
 * Indexes the boundaries of at least one polygon.
 *
 * @param order the indexes of all polygons, in any order. Searches are fast if consecutive polygons
 *   are near each other
 */
export function indexBoundaries(packed: PackedPolygons, order: readonly number[]): Boundaries {
  const { coordinates } = packed;
  const { stretchStart, stretchEnd } = cutIntoStretches(packed, order);
  const count = stretchStart.length;
  const boxes = new Float32Array(count * 2 * 4);
  for (let s = 0; s < count; s++) {
    const end = stretchEnd[s]! + 2;
    const { west, south, east, north } = boundsOf(coordinates, stretchStart[s]!, end);
    boxes.set([west, south, east, north], (count + s) * 4);
  }
  for (let node = count - 1; node > 0; node--) setBoxAroundChildren(boxes, node);
  return { coordinates, stretchStart, stretchEnd, boxes };
}

function cutIntoStretches({ ringStart, polygonStart }: PackedPolygons, order: readonly number[]) {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const polygon of order) {
    const endRing = polygonStart[polygon + 1]!;
    for (let ring = polygonStart[polygon]!; ring < endRing; ring++) {
      const lastPosition = ringStart[ring + 1]! - 2;
      for (let i = ringStart[ring]!; i < lastPosition; i += EDGES_PER_STRETCH * 2) {
        starts.push(i);
        ends.push(Math.min(i + EDGES_PER_STRETCH * 2, lastPosition));
      }
    }
  }
  return { stretchStart: Uint32Array.from(starts), stretchEnd: Uint32Array.from(ends) };
}

function setBoxAroundChildren(boxes: Float32Array, node: number): void {
  const box = node * 4;
  const left = box * 2;
  const right = left + 4;
  for (let side = 0; side < 4; side++) {
    const outermost = side < 2 ? Math.min : Math.max;
    boxes[box + side] = outermost(boxes[left + side]!, boxes[right + side]!);
  }
}

/** State of a search for the shortest arc from a target to a boundary. Arcs are in radians. */
interface Search {
  readonly boundaries: Boundaries;
  readonly target: Target;
  arc: number;
  /** Boundaries at this distance or farther are skipped. */
  goal: number;
}

/**
 * Returns the great-circle distance from a point to the nearest boundary, in meters, on the sphere
 * of `haversineKm`. The result is at most 1e-4 too large, so it is exact to a meter up to 10 km.
 */
export function metersToBoundary(boundaries: Boundaries, { lng, lat }: Point): number {
  const search = { boundaries, target: targetAt(lng, lat), arc: Infinity, goal: Infinity };
  searchNode(search, 1);
  return search.arc * EARTH_RADIUS_KM * 1000;
}

/** Searches the subtree of a node. Visits the nearer child first, so that the other child can often be skipped. */
function searchNode(search: Search, node: number): void {
  const count = search.boundaries.stretchStart.length;
  if (node >= count) return searchStretch(search, node - count);
  const left = node * 2;
  const right = left + 1;
  const toLeft = arcToNode(search, left);
  const toRight = arcToNode(search, right);
  const [near, toNear, far, toFar] =
    toLeft <= toRight ? [left, toLeft, right, toRight] : [right, toRight, left, toLeft];
  if (toNear < search.goal) searchNode(search, near);
  if (toFar < search.goal) searchNode(search, far);
}

/**
 * Maximum rounding error of a box, in radians. Single precision shifts a longitude by at most 2⁻¹⁷
 * degrees and a latitude by half of that.
 */
const BOX_ERROR = 2e-7;

function arcToNode({ boundaries: { boxes }, target }: Search, node: number): number {
  const box = node * 4;
  const west = radians(boxes[box]!);
  const south = radians(boxes[box + 1]!);
  const east = radians(boxes[box + 2]!);
  const north = radians(boxes[box + 3]!);
  return arcToBox(target, west, south, east, north) - BOX_ERROR;
}

function searchStretch(search: Search, stretch: number): void {
  const { coordinates, stretchStart, stretchEnd } = search.boundaries;
  const start = stretchStart[stretch]!;
  const end = stretchEnd[stretch]!;
  let fromLng = radians(coordinates[start]!);
  let fromLat = radians(coordinates[start + 1]!);
  for (let i = start + 2; i <= end; i += 2) {
    const toLng = radians(coordinates[i]!);
    const toLat = radians(coordinates[i + 1]!);
    searchEdge(search, fromLng, fromLat, toLng, toLat);
    fromLng = toLng;
    fromLat = toLat;
  }
}

/** Maximum longitude and latitude difference of an edge for which `arcToShortEdge` is accurate, in radians. */
const SHORT = radians(1);

/** Measures an edge by bisecting it until the parts are short. Skips parts that are too far away. */
function searchEdge(search: Search, fromLng: number, fromLat: number, toLng: number, toLat: number): void {
  const { target } = search;
  const west = Math.min(fromLng, toLng);
  const east = Math.max(fromLng, toLng);
  const south = Math.min(fromLat, toLat);
  const north = Math.max(fromLat, toLat);
  if (!(arcToBox(target, west, south, east, north) < search.goal)) return;

  if (Math.max(east - west, north - south) <= SHORT) {
    keepLesser(search, arcToShortEdge(target, fromLng, fromLat, toLng, toLat));
    return;
  }
  const middleLng = (fromLng + toLng) / 2;
  const middleLat = (fromLat + toLat) / 2;
  searchEdge(search, fromLng, fromLat, middleLng, middleLat);
  searchEdge(search, middleLng, middleLat, toLng, toLat);
}

/**
 * Relative improvement below which the search stops. Without it, a search from the center of a
 * round hole would visit every edge.
 */
const TOLERANCE = 1e-4;

/** Minimum tolerance in radians: 6 mm on Earth. */
const MIN_TOLERANCE = 1e-9;

function keepLesser(search: Search, arc: number): void {
  if (arc >= search.arc) return;
  search.arc = arc;
  search.goal = arc * (1 - TOLERANCE) - MIN_TOLERANCE;
}
