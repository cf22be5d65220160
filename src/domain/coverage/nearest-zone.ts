import { approachEdge, placeAt, startApproach } from "./approach-edge.ts";
import type { Approach, Place } from "./approach-edge.ts";
import { haversineKm } from "./geo.ts";
import type { Point } from "./geo.ts";
import { boundsOf } from "./packed-polygons.ts";
import type { PackedPolygons } from "./packed-polygons.ts";

/**
 * The boundaries of polygons, cut into stretches of a few edges, under a binary tree of boxes.
 * Stretch s has the positions from stretchStart[s] up to and with stretchEnd[s]. Node n, from 1 on,
 * has the children 2n and 2n + 1, and the stretches are the last nodes. A box is four numbers, west,
 * south, east and north in degrees, in single precision for half the memory.
 */
export interface Boundaries {
  readonly coordinates: Float64Array;
  readonly stretchStart: Uint32Array;
  readonly stretchEnd: Uint32Array;
  readonly boxes: Float32Array;
}

/** Few enough to look at all of them, and enough that the tree stays small beside the positions. */
const EDGES_PER_STRETCH = 16;

/**
 * Indexes the boundaries of polygons, of which there must be some.
 *
 * @param order The numbers of all polygons, in any order; searches are quick when polygons that
 *   follow each other are near each other.
 */
export function indexBoundaries(packed: PackedPolygons, order: readonly number[]): Boundaries {
  const { coordinates } = packed;
  const { stretchStart, stretchEnd } = cutIntoStretches(packed, order);
  const count = stretchStart.length;
  const boxes = new Float32Array(count * 2 * 4);
  for (let s = 0; s < count; s++) {
    const end = (stretchEnd[s] as number) + 2;
    const { west, south, east, north } = boundsOf(coordinates, stretchStart[s] as number, end);
    boxes.set([west, south, east, north], (count + s) * 4);
  }
  for (let node = count - 1; node > 0; node--) setBoxAroundChildren(boxes, node);
  return { coordinates, stretchStart, stretchEnd, boxes };
}

function cutIntoStretches({ ringStart, polygonStart }: PackedPolygons, order: readonly number[]) {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const polygon of order) {
    const endRing = polygonStart[polygon + 1] as number;
    for (let ring = polygonStart[polygon] as number; ring < endRing; ring++) {
      const lastPosition = (ringStart[ring + 1] as number) - 2;
      for (let i = ringStart[ring] as number; i < lastPosition; i += EDGES_PER_STRETCH * 2) {
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
    boxes[box + side] = outermost(boxes[left + side] as number, boxes[right + side] as number);
  }
}

/**
 * The great-circle distance from a point to the nearest point of a boundary, in metres, on the
 * sphere of `haversineKm`; above the truth by at most about a ten-thousandth and 6 mm.
 */
export function metresToBoundary(boundaries: Boundaries, point: Point): number {
  const approach = startApproach(placeAt(point.lng, point.lat));
  approachNode(boundaries, approach, 1);
  const { lng, lat } = approach.nearest as Place;
  const nearest = { lng: (lng * 180) / Math.PI, lat: (lat * 180) / Math.PI };
  return haversineKm(point, nearest) * 1000;
}

/** Looks below a node of the tree, the nearer child first, so that the other is often ruled out. */
function approachNode(boundaries: Boundaries, approach: Approach, node: number): void {
  const count = boundaries.stretchStart.length;
  if (node >= count) return approachStretch(boundaries, approach, node - count);
  const left = node * 2;
  const right = left + 1;
  const toLeft = chordToBox(boundaries, left, approach.target);
  const toRight = chordToBox(boundaries, right, approach.target);
  const [near, toNear, far, toFar] =
    toLeft <= toRight ? [left, toLeft, right, toRight] : [right, toRight, left, toLeft];
  if (toNear < approach.goal) approachNode(boundaries, approach, near);
  if (toFar < approach.goal) approachNode(boundaries, approach, far);
}

function approachStretch(boundaries: Boundaries, approach: Approach, stretch: number): void {
  const { coordinates, stretchStart, stretchEnd } = boundaries;
  const start = stretchStart[stretch] as number;
  const end = stretchEnd[stretch] as number;
  let from = placeAt(coordinates[start] as number, coordinates[start + 1] as number);
  for (let i = start + 2; i <= end; i += 2) {
    const to = placeAt(coordinates[i] as number, coordinates[i + 1] as number);
    approachEdge(approach, from, to);
    from = to;
  }
}

/**
 * Single precision misplaces a longitude by at most 2⁻¹⁷ degrees and a latitude by half of that,
 * together 1.5e-7 radians; that 1 − cos loses digits adds 3e-8 at most.
 */
const BOX_ERROR = 2e-7;

/**
 * A lower bound of the chord from a place to anything in a node's box. The nearest part of a box is
 * on the meridian in it that is the fewest degrees away. Along that meridian the cosine of the arc
 * to the place is z sin φ + b cos φ, a wave whose crest is at the latitude atan2(z, b).
 */
function chordToBox({ boxes }: Boundaries, node: number, { lng, cosLat, z }: Place): number {
  const box = node * 4;
  const south = radians(boxes[box + 1] as number);
  const north = radians(boxes[box + 3] as number);
  const eastward = lngGap(lng, radians(boxes[box] as number), radians(boxes[box + 2] as number));
  const b = cosLat * Math.cos(eastward);
  const crest = Math.atan2(z, b);
  const cosine =
    south <= crest && crest <= north
      ? Math.sqrt(z * z + b * b)
      : Math.max(
          z * Math.sin(south) + b * Math.cos(south),
          z * Math.sin(north) + b * Math.cos(north),
        );
  return Math.sqrt(Math.max(0, 2 - 2 * cosine)) - BOX_ERROR;
}

/** How far a longitude is from the nearest one between two others, either way round; 0 to π. */
function lngGap(lng: number, west: number, east: number): number {
  if (west <= lng && lng <= east) return 0;
  return Math.min(wholeTurn(west - lng), wholeTurn(lng - east));
}

/** An angle from −2π to 2π as one from 0 to 2π. */
function wholeTurn(angle: number): number {
  return angle < 0 ? angle + 2 * Math.PI : angle;
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}
