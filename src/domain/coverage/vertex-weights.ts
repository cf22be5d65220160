import { EARTH_RADIUS_KM, radians } from "./geo.ts";
import type { SharedBorders } from "./shared-borders.ts";

const METERS_PER_DEGREE = radians(1) * EARTH_RADIUS_KM * 1000;

/** Recursion depth up to which a border is split at its farthest vertex. Deeper splits are in the middle. */
const MAX_DEPTH = 48;

/** Weight of a vertex that has not been weighed. */
const UNWEIGHED = -1;

/**
 * Computes the weight of each vertex, in meters. If all vertices with a weight below a tolerance are removed, every
 * ring deviates by less than the tolerance. Junctions have infinite weight, and so does one vertex of each ring without
 * junctions. A vertex has the same weight in all rings, so shared borders stay shared.
 *
 * Uses the Ramer-Douglas-Peucker algorithm: U. Ramer (1972), D. H. Douglas and T. K. Peucker, "Algorithms for the
 * Reduction of the Number of Points Required to Represent a Digitized Line", Cartographica 10 (1973). Takes n log n,
 * because lines are split in the middle below `MAX_DEPTH`.
 *
 * @param leastM weights below this are set to 0, which saves time
 */
export function weighVertices(borders: SharedBorders, leastM: number): Float64Array {
  const { isJunction, polygons } = borders;
  const weights = new Float64Array(isJunction.length).fill(UNWEIGHED);
  for (const ring of polygons.flat()) {
    const start = Math.max(
      0,
      ring.findIndex((vertex) => isJunction[vertex] === 1),
    );
    let line: number[] = [ring[start]!];
    for (let i = 1; i <= ring.length; i++) {
      const vertex = ring[(start + i) % ring.length]!;
      line.push(vertex);
      if (i < ring.length && isJunction[vertex] === 0) continue;
      weighLine(borders, line, weights, leastM);
      line = [vertex];
    }
  }
  return weights;
}

/** Computes the weights of one border. Skips it if another ring has done so. */
function weighLine(borders: SharedBorders, line: readonly number[], weights: Float64Array, leastM: number): void {
  const last = line.length - 1;
  // Checks the second vertex, because the first vertex of a ring without junctions is arbitrary.
  if (last > 1 && weights[line[1]!] !== UNWEIGHED) return;
  for (const vertex of line) weights[vertex] = 0;
  weights[line[0]!] = Infinity;
  weights[line[last]!] = Infinity;

  const { x, y } = project(borders, line);
  const stretches = [{ from: 0, to: last, bound: Infinity, depth: 0 }];
  for (let it = stretches.pop(); it !== undefined; it = stretches.pop()) {
    const { from, to, bound, depth } = it;
    const { index, distance } = findFarthest(x, y, from, to);
    if (distance < leastM || distance === 0) continue;
    const split = depth < MAX_DEPTH ? index : (from + to) >> 1;
    const weight = Math.min(bound, distance);
    weights[line[split]!] = weight;
    stretches.push({ from, to: split, bound: weight, depth: depth + 1 });
    stretches.push({ from: split, to, bound: weight, depth: depth + 1 });
  }
}

/**
 * Projects a line onto a plane, in meters. Uses the longitude scale at the line's point closest to the equator, so
 * distances are never underestimated.
 */
function project({ lng, lat }: SharedBorders, line: readonly number[]) {
  const x = new Float64Array(line.length);
  const y = new Float64Array(line.length);
  let south = Infinity;
  let north = -Infinity;
  for (const vertex of line) {
    south = Math.min(south, lat[vertex]!);
    north = Math.max(north, lat[vertex]!);
  }
  const closest = south <= 0 && north >= 0 ? 0 : Math.min(Math.abs(south), Math.abs(north));
  const metersEast = METERS_PER_DEGREE * Math.cos(radians(closest));
  for (const [i, vertex] of line.entries()) {
    x[i] = lng[vertex]! * metersEast;
    y[i] = lat[vertex]! * METERS_PER_DEGREE;
  }
  return { x, y };
}

/** Returns the vertex between `from` and `to` that is farthest from the segment between them. */
function findFarthest(x: Float64Array, y: Float64Array, from: number, to: number) {
  const fromX = x[from]!;
  const fromY = y[from]!;
  const dx = x[to]! - fromX;
  const dy = y[to]! - fromY;
  const squaredLength = dx * dx + dy * dy;
  let index = from;
  let farthest = 0;
  for (let i = from + 1; i < to; i++) {
    const px = x[i]! - fromX;
    const py = y[i]! - fromY;
    const along = squaredLength === 0 ? 0 : (px * dx + py * dy) / squaredLength;
    const part = along < 0 ? 0 : along > 1 ? 1 : along;
    const awayX = px - part * dx;
    const awayY = py - part * dy;
    const squared = awayX * awayX + awayY * awayY;
    if (squared > farthest) {
      farthest = squared;
      index = i;
    }
  }
  return { index, distance: Math.sqrt(farthest) };
}
