import type { EdgeVisits } from "./edge-index.ts";
import { EARTH_RADIUS_KM, radians, type Polygon, type Position } from "./geo.ts";
import { MAX_EDGE_VISITS, polygonError } from "./polygon-error.ts";
import { findSharedBorders, type SharedBorders } from "./shared-borders.ts";
import { weighVertices } from "./vertex-weights.ts";

/** Number of times the tolerance of a polygon is halved before it keeps all its vertices. */
const HALVINGS = 6;

interface Simplification {
  readonly borders: SharedBorders;
  readonly weights: Float64Array;
  /** 1 for each vertex that is kept, otherwise 0. */
  readonly kept: Uint8Array;
  /** Number of decimals of rounded coordinates, in degrees. */
  readonly decimals: number;
  /** Minimum weight of a vertex that is kept, in meters. */
  readonly leastWeightM: number;
}

/**
 * Simplifies valid polygons so that every point of an outline moves by at most the tolerance, and rounds their
 * coordinates to match. Shared borders stay shared. Where borders run side by side with different vertices, gaps and
 * overlaps of up to twice the tolerance appear.
 *
 * Every resulting polygon is valid. A polygon that becomes invalid keeps more vertices or, if necessary, all vertices
 * without rounding. Polygons are not checked against each other. A ring keeps at least three corners.
 *
 * @param toleranceM above 0, in meters
 */
export function simplifyPolygons(polygons: readonly Polygon[], toleranceM: number): Polygon[] {
  const decimals = decimalsFor(toleranceM);
  const leastWeightM = toleranceM - roundingErrorM(decimals);
  const borders = findSharedBorders(polygons);
  const weights = weighVertices(borders, leastWeightM / 2 ** HALVINGS);
  const kept = Uint8Array.from(weights, (weight) => (weight >= leastWeightM ? 1 : 0));
  const simplification = { borders, weights, kept, decimals, leastWeightM };
  for (const ring of borders.polygons.flat()) keepThree(ring, simplification);
  return makeValid(simplification, polygons);
}

/** Returns the number of decimals, in degrees, at which rounding uses at most a tenth of the tolerance. */
function decimalsFor(toleranceM: number): number {
  let decimals = 0;
  while (roundingErrorM(decimals) > toleranceM / 10) decimals++;
  return decimals;
}

/** Returns the maximum distance that a position moves when both coordinates are rounded, in meters. */
function roundingErrorM(decimals: number): number {
  return radians(0.5 * 10 ** -decimals) * Math.SQRT2 * EARTH_RADIUS_KM * 1000;
}

/** Adds the most significant vertices of a ring until at least three are kept. */
function keepThree(ring: Uint32Array, { kept, weights }: Simplification): void {
  let missing = 3 - countKept([ring], kept, 3);
  if (missing <= 0) return;
  const byWeight = ring.toSorted((a, b) => weights[b]! - weights[a]!);
  for (const vertex of byWeight) {
    if (missing === 0) return;
    if (kept[vertex] === 1) continue;
    kept[vertex] = 1;
    missing--;
  }
}

/** Counts the kept vertices of the rings, up to `most`. */
function countKept(rings: readonly Uint32Array[], kept: Uint8Array, most = Infinity): number {
  let count = 0;
  for (const ring of rings) {
    for (const vertex of ring) {
      count += kept[vertex]!;
      if (count >= most) return count;
    }
  }
  return count;
}

/**
 * Builds the polygons. An invalid polygon keeps more vertices until it is valid. Its neighbors then
 * keep the same vertices on shared borders and are rebuilt.
 */
function makeValid(simplification: Simplification, originals: readonly Polygon[]): Polygon[] {
  const { borders, kept } = simplification;
  const visits = { left: MAX_EDGE_VISITS };
  const built: Polygon[] = [];
  /** Number of kept vertices of each polygon when it was built. Infinity if it remains unsimplified. */
  const counts = borders.polygons.map(() => 0);
  const isStale = (rings: readonly Uint32Array[], i: number) =>
    counts[i] !== Infinity && counts[i] !== countKept(rings, kept);
  let pending = [...borders.polygons.entries()];
  while (pending.length > 0) {
    for (const [i, rings] of pending) {
      const valid = buildValid(rings, simplification, visits);
      built[i] = valid ?? originals[i]!.map((ring) => ring.map(withoutAltitude));
      counts[i] = valid === undefined ? Infinity : countKept(rings, kept);
    }
    pending = [...borders.polygons.entries()].filter(([i, rings]) => isStale(rings, i));
  }
  return built;
}

/** Builds a polygon, with more vertices while it is invalid. Returns `undefined` if it never becomes valid. */
function buildValid(
  rings: readonly Uint32Array[],
  simplification: Simplification,
  visits: EdgeVisits,
): Polygon | undefined {
  for (let level = 0; level <= HALVINGS + 1; level++) {
    if (level > 0) keepMore(rings, level, simplification);
    const polygon = build(rings, simplification);
    if (polygonError(polygon, visits) === undefined) return polygon;
  }
  return undefined;
}

/** Keeps the vertices of a level, from 1. The last level keeps all of them. */
function keepMore(rings: readonly Uint32Array[], level: number, { kept, weights, leastWeightM }: Simplification): void {
  const leastM = level > HALVINGS ? 0 : leastWeightM / 2 ** level;
  for (const ring of rings) {
    for (const vertex of ring) {
      if (weights[vertex]! >= leastM) kept[vertex] = 1;
    }
  }
}

function build(rings: readonly Uint32Array[], simplification: Simplification): Polygon {
  const { borders, kept, decimals } = simplification;
  const scale = 10 ** decimals;
  return rings.map((ring) => {
    const positions: [number, number][] = [];
    for (const vertex of ring) {
      if (kept[vertex] === 0) continue;
      const lng = Math.round(borders.lng[vertex]! * scale) / scale;
      const lat = Math.round(borders.lat[vertex]! * scale) / scale;
      const before = positions.at(-1);
      if (before?.[0] !== lng || before[1] !== lat) positions.push([lng, lat]);
    }
    const [first] = positions as [[number, number]];
    const last = positions.at(-1) as [number, number];
    if (positions.length === 1 || first[0] !== last[0] || first[1] !== last[1]) {
      positions.push([first[0], first[1]]);
    }
    return positions;
  });
}

function withoutAltitude([lng, lat]: Position): Position {
  return [lng as number, lat as number];
}
