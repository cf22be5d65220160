import type { Polygon, Ring } from "./geo.ts";
import { compareCorners, sideOf, type Corner } from "./segments.ts";

/**
 * The edges of all rings of a polygon, numbered ring by ring. Edge i goes from start[i] to start[next[i]] and belongs
 * to ring[i]. Ring r has the edges firstOf[r] to firstOf[r + 1], exclusive. Ring 0 is the outer ring.
 */
export interface Outline {
  readonly start: readonly Corner[];
  readonly next: Uint32Array;
  readonly previous: Uint32Array;
  readonly ring: Uint32Array;
  readonly firstOf: readonly number[];
  readonly anticlockwise: readonly boolean[];
}

/** Returns the corners of each ring, with consecutive equal positions merged. */
export function cornersOf(polygon: Polygon): Corner[][] {
  return polygon.map(distinctCorners);
}

/** Removes each position that equals its predecessor, and the closing position. */
function distinctCorners(ring: Ring): Corner[] {
  return (ring as readonly Corner[]).filter((corner, i, corners) => {
    const predecessor = corners[i - 1];
    return predecessor !== undefined && compareCorners(predecessor, corner) !== 0;
  });
}

/** Creates an outline. Each ring must have at least three different corners. */
export function outlineOf(rings: readonly (readonly Corner[])[]): Outline {
  const start = rings.flat() as Corner[];
  const firstOf = [0];
  for (const corners of rings) firstOf.push(firstOf.at(-1)! + corners.length);
  return {
    start,
    firstOf,
    anticlockwise: rings.map(isAnticlockwise),
    ...linkEdges(firstOf, start.length),
  };
}

/**
 * Uses the westernmost corner of a ring (the southernmost of several), which is always convex and
 * shows the orientation.
 */
function isAnticlockwise(corners: readonly Corner[]): boolean {
  let lowest = 0;
  for (let i = 1; i < corners.length; i++) {
    if (compareCorners(corners[i]!, corners[lowest]!) < 0) lowest = i;
  }
  const before = corners.at(lowest - 1)!;
  const after = corners[(lowest + 1) % corners.length]!;
  return sideOf(before, corners[lowest]!, after) > 0;
}

function linkEdges(firstOf: readonly number[], count: number) {
  const next = new Uint32Array(count);
  const previous = new Uint32Array(count);
  const ring = new Uint32Array(count);
  for (let r = 0; r + 1 < firstOf.length; r++) {
    const first = firstOf[r]!;
    const last = firstOf[r + 1]! - 1;
    for (let i = first; i <= last; i++) {
      ring[i] = r;
      next[i] = i === last ? first : i + 1;
      previous[i] = i === first ? last : i - 1;
    }
  }
  return { next, previous, ring };
}

export function endOf(outline: Outline, edge: number): Corner {
  return outline.start[outline.next[edge]!]!;
}

export function ringName(ring: number): string {
  return ring === 0 ? "the outer ring" : `hole ${ring}`;
}
