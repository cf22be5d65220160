import { orient2d } from "robust-predicates";
import type { Polygon, Position } from "./geo.ts";

/**
 * Polygons with all positions in one array, longitude before latitude. This takes a fifth of the memory of nested
 * lists and can be traversed twice as fast. Ring r has the positions ringStart[r] to ringStart[r + 1], exclusive.
 * Polygon p has the rings polygonStart[p] to polygonStart[p + 1], exclusive.
 */
export interface PackedPolygons {
  readonly coordinates: Float64Array;
  readonly ringStart: Uint32Array;
  readonly polygonStart: Uint32Array;
}

export function packPolygons(polygons: readonly Polygon[]): PackedPolygons {
  const rings = polygons.flat();
  const ringStart = startsOf(rings.map((ring) => ring.length * 2));
  const coordinates = new Float64Array(ringStart.at(-1)!);
  let end = 0;
  for (const ring of rings) {
    for (const [lng, lat] of ring as readonly (Position & [number, number])[]) {
      coordinates[end++] = lng;
      coordinates[end++] = lat;
    }
  }
  return { coordinates, ringStart, polygonStart: startsOf(polygons.map((p) => p.length)) };
}

/** Returns the start offset of each list when they are concatenated, followed by the total length. */
function startsOf(lengths: readonly number[]): Uint32Array {
  const starts = new Uint32Array(lengths.length + 1);
  for (const [i, length] of lengths.entries()) starts[i + 1] = starts[i]! + length;
  return starts;
}

/** A bounding box, in degrees. */
export interface Bounds {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** Returns the bounding box of the packed positions from `start` to `end`, exclusive. */
export function boundsOf(coordinates: Float64Array, start: number, end: number): Bounds {
  let west = Infinity;
  let south = Infinity;
  let east = -Infinity;
  let north = -Infinity;
  for (let i = start; i < end; i += 2) {
    const lng = coordinates[i]!;
    const lat = coordinates[i + 1]!;
    if (lng < west) west = lng;
    if (lng > east) east = lng;
    if (lat < south) south = lat;
    if (lat > north) north = lat;
  }
  return { west, south, east, north };
}

/**
 * Whether a position lies in a polygon, that is, on an edge or inside an odd number of rings.
 * Exact. Uses the cases of J. Hao et al., "Optimal Reliable Point-in-Polygon Test and Differential
 * Coding Boolean Probes on Polygons", Symmetry 10 (2018), and Shewchuk's orientation predicate.
 */
export function polygonHolds(
  { coordinates, ringStart, polygonStart }: PackedPolygons,
  polygon: number,
  x: number,
  y: number,
): boolean {
  let inside = false;
  const endRing = polygonStart[polygon + 1]!;
  for (let ring = polygonStart[polygon]!; ring < endRing; ring++) {
    const lastPosition = ringStart[ring + 1]! - 2;
    for (let i = ringStart[ring]!; i < lastPosition; i += 2) {
      // Skips edges entirely above or below the ray from (x, y) to the east.
      const startY = coordinates[i + 1]!;
      const endY = coordinates[i + 3]!;
      if ((startY < y && endY < y) || (startY > y && endY > y)) continue;
      const startX = coordinates[i]!;
      const endX = coordinates[i + 2]!;
      if (startX < x && endX < x) continue;

      // Positive to the right of the edge, because the library's y axis points down.
      const side = orient2d(startX, startY, endX, endY, x, y);
      if (side === 0 && Math.min(startX, endX) <= x) return true;
      // An endpoint at the height of the ray counts as below it, so that each corner is crossed once.
      const crosses = startY > y !== endY > y;
      if (crosses && side > 0 === endY < startY) inside = !inside;
    }
  }
  return inside;
}
