import Flatbush from "flatbush";
import type { Polygon, Ring } from "./geo.ts";
import { compareCorners, liesOn, meetingOf, sideOf, sideOfPath } from "./segments.ts";
import type { Corner, Meeting } from "./segments.ts";

/**
 * What is wrong with the shape of a polygon and how to mend it, or undefined when it is sound.
 * The rings must already be closed lists of finite positions in range.
 *
 * Sound means: no ring crosses or touches itself (consecutive equal positions count as one); holes
 * lie inside the outer ring and outside each other, and two rings meet in single points at most.
 * The winding order is free (RFC 7946, 3.1.6: parsers should not reject it).
 *
 * Exact, without a tolerance. About n log n for the n positions of a map; only a shape most of
 * whose edges pass each other diagonally, box over box, costs more.
 */
export function polygonFault(polygon: Polygon): string | undefined {
  const rings = polygon.map(distinctCorners);
  const collapsed = rings.findIndex((corners) => corners.length < 3);
  if (collapsed !== -1) {
    return `${ringName(collapsed)} has fewer than three different positions; give it at least three corners`;
  }

  const outline = outlineOf(rings);
  const boxes = indexEdges(outline);
  const ofOneRing = faultBetweenEdges(outline, boxes, selfContactFault);
  if (ofOneRing !== undefined || polygon.length === 1) return ofOneRing;
  return faultBetweenEdges(outline, boxes, ringContactFault) ?? misplacedHoleFault(outline, boxes);
}

/**
 * The edges of all rings, numbered through. Edge i goes from start[i] to start[next[i]]; ring r
 * has the edges from firstOf[r] up to, not including, firstOf[r + 1]; ring 0 is the outer one.
 */
interface Outline {
  readonly start: readonly Corner[];
  readonly next: Uint32Array;
  readonly previous: Uint32Array;
  readonly ring: Uint32Array;
  readonly firstOf: readonly number[];
  readonly anticlockwise: readonly boolean[];
}

function outlineOf(rings: readonly (readonly Corner[])[]): Outline {
  const start = rings.flat() as Corner[];
  const firstOf = [0];
  for (const corners of rings) firstOf.push((firstOf.at(-1) as number) + corners.length);
  return {
    start,
    firstOf,
    anticlockwise: rings.map(isAnticlockwise),
    ...linkEdges(firstOf, start.length),
  };
}

/** Keeps what differs from its predecessor: since the last position is the first, each corner once. */
function distinctCorners(ring: Ring): Corner[] {
  return (ring as readonly Corner[]).filter((corner, i, corners) => {
    const predecessor = corners[i - 1];
    return predecessor !== undefined && compareCorners(predecessor, corner) !== 0;
  });
}

/** A ring turns the way it turns at its most western (then southern) corner, which is convex. */
function isAnticlockwise(corners: readonly Corner[]): boolean {
  let lowest = 0;
  for (let i = 1; i < corners.length; i++) {
    if (compareCorners(at(corners, i), at(corners, lowest)) < 0) lowest = i;
  }
  const before = corners.at(lowest - 1) as Corner;
  const after = at(corners, (lowest + 1) % corners.length);
  return sideOf(before, at(corners, lowest), after) > 0;
}

function linkEdges(firstOf: readonly number[], count: number) {
  const next = new Uint32Array(count);
  const previous = new Uint32Array(count);
  const ring = new Uint32Array(count);
  for (let r = 0; r + 1 < firstOf.length; r++) {
    const first = at(firstOf, r);
    const last = at(firstOf, r + 1) - 1;
    for (let i = first; i <= last; i++) {
      ring[i] = r;
      next[i] = i === last ? first : i + 1;
      previous[i] = i === first ? last : i - 1;
    }
  }
  return { next, previous, ring };
}

/** An element that is known to exist. */
function at<T>(list: { readonly [index: number]: T }, index: number): T {
  return list[index] as T;
}

function endOf(outline: Outline, edge: number): Corner {
  return at(outline.start, at(outline.next, edge));
}

function indexEdges(outline: Outline): Flatbush {
  const boxes = new Flatbush(outline.start.length);
  for (const [edge, start] of outline.start.entries()) {
    const end = endOf(outline, edge);
    boxes.add(
      Math.min(start[0], end[0]),
      Math.min(start[1], end[1]),
      Math.max(start[0], end[0]),
      Math.max(start[1], end[1]),
    );
  }
  boxes.finish();
  return boxes;
}

type LookAtPair = (outline: Outline, edge: number, other: number) => string | undefined;

/** The first fault that `look` finds among the pairs of edges whose boxes meet. */
function faultBetweenEdges(outline: Outline, boxes: Flatbush, look: LookAtPair) {
  let fault: string | undefined;
  for (const [edge, start] of outline.start.entries()) {
    const end = endOf(outline, edge);
    boxes.collides(
      Math.min(start[0], end[0]),
      Math.min(start[1], end[1]),
      Math.max(start[0], end[0]),
      Math.max(start[1], end[1]),
      // Each pair once, the lower number first.
      (other) => other > edge && (fault = look(outline, edge, other)) !== undefined,
    );
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function meetingOfEdges(outline: Outline, edge: number, other: number): Meeting {
  const { start } = outline;
  return meetingOf(at(start, edge), endOf(outline, edge), at(start, other), endOf(outline, other));
}

/** Edges of one ring may meet only where one follows the other. */
function selfContactFault(outline: Outline, edge: number, other: number): string | undefined {
  if (at(outline.ring, edge) !== at(outline.ring, other)) return undefined;
  const meeting = meetingOfEdges(outline, edge, other);
  if (meeting === undefined) return undefined;

  const name = ringName(at(outline.ring, edge));
  const place = shown(at(outline.start, other));
  if (meeting === "cross") {
    return `${name} crosses itself near ${place}; redraw it so that its edges meet only at their ends`;
  }
  if (meeting === "overlap") {
    return `${name} runs back over itself near ${place}; remove the doubled stretch`;
  }
  if (follow(outline, edge, other)) return undefined;
  return `${name} touches itself at ${shown(meeting)}; split it there into two rings`;
}

function follow({ next }: Outline, edge: number, other: number): boolean {
  return at(next, edge) === other || at(next, other) === edge;
}

/** Edges of two rings may meet only in a point where the rings do not pass through each other. */
function ringContactFault(outline: Outline, edge: number, other: number): string | undefined {
  // Rings are numbered through, so the lower edge belongs to the lower ring.
  const ring = at(outline.ring, edge);
  const hole = at(outline.ring, other);
  if (ring === hole) return undefined;
  const meeting = meetingOfEdges(outline, edge, other);
  if (meeting === undefined) return undefined;

  const place = shown(typeof meeting === "string" ? at(outline.start, other) : meeting);
  if (meeting === "overlap") return sharedEdgeText(hole, ring, place);
  if (meeting === "cross") return overreachText(hole, ring, place);
  const sound =
    ring === 0
      ? keepsTo(INSIDE, outline, other, edge, meeting)
      : keepsTo(OUTSIDE, outline, other, edge, meeting) &&
        keepsTo(OUTSIDE, outline, edge, other, meeting);
  return sound ? undefined : overreachText(hole, ring, place);
}

const INSIDE = 1;
const OUTSIDE = -1;

/**
 * Whether, next to the point p where two edges touch, the ring of the first keeps to one side of
 * the ring of the second. Ways along the second pass: the edges that overlap there tell more.
 */
function keepsTo(side: number, outline: Outline, edge: number, other: number, p: Corner): boolean {
  const [before, after] = pathThrough(outline, other, p);
  const left = at(outline.anticlockwise, at(outline.ring, other)) ? INSIDE : OUTSIDE;
  return pathThrough(outline, edge, p).every(
    (corner) => sideOfPath(before, p, after, corner) * left !== -side,
  );
}

/** The corners before and after a point p of an edge, along its ring. */
function pathThrough(outline: Outline, edge: number, p: Corner): [before: Corner, after: Corner] {
  const { start, previous, next } = outline;
  const end = endOf(outline, edge);
  if (compareCorners(p, at(start, edge)) === 0) return [at(start, at(previous, edge)), end];
  if (compareCorners(p, end) === 0) return [at(start, edge), endOf(outline, at(next, edge))];
  return [at(start, edge), end];
}

/**
 * Looks for a hole outside the outer ring or inside another hole. The rings are known not to pass
 * through each other, so one corner of a hole speaks for all of it; where that corner touches
 * another ring, `ringContactFault` has already judged the two.
 */
function misplacedHoleFault(outline: Outline, boxes: Flatbush): string | undefined {
  for (let hole = 1; hole + 1 < outline.firstOf.length; hole++) {
    const { around, touched } = ringsAt(outline, boxes, hole);
    if (!around.has(0) && !touched.has(0)) {
      return `${ringName(hole)} lies outside the outer ring; draw it as a polygon of its own or remove it`;
    }
    for (const ring of around) {
      if (ring === 0 || touched.has(ring)) continue;
      return `${ringName(hole)} lies inside ${ringName(ring)}; draw an island as a polygon of its own, or remove it`;
    }
  }
  return undefined;
}

/**
 * The rings that lie around a hole's first corner, and those that touch it, its own among them: a
 * ray from it to the east crosses a ring around it an odd number of times (M. Shimrat, Algorithm
 * 112, 1962).
 */
function ringsAt(outline: Outline, boxes: Flatbush, hole: number) {
  const p = at(outline.start, at(outline.firstOf, hole));
  const around = new Set<number>();
  const touched = new Set<number>();
  boxes.collides(p[0], p[1], Infinity, p[1], (edge) => {
    const ring = at(outline.ring, edge);
    const start = at(outline.start, edge);
    const end = endOf(outline, edge);
    if (liesOn(p, start, end)) touched.add(ring);
    else if (crossesRay(p, start, end) && !around.delete(ring)) around.add(ring);
    return false;
  });
  return { around, touched };
}

/** Whether a segment crosses the ray east of p. An end at the height of p counts as below it. */
function crossesRay(p: Corner, start: Corner, end: Corner): boolean {
  const rises = end[1] > p[1];
  return start[1] > p[1] !== rises && sideOf(start, end, p) === (rises ? 1 : -1);
}

function ringName(ring: number): string {
  return ring === 0 ? "the outer ring" : `hole ${ring}`;
}

function shown([lng, lat]: Corner): string {
  return `[${lng}, ${lat}]`;
}

function overreachText(hole: number, ring: number, place: string): string {
  return ring === 0
    ? `hole ${hole} reaches outside the outer ring at or near ${place}; keep it inside`
    : `hole ${hole} overlaps hole ${ring} at or near ${place}; merge the two into one hole`;
}

function sharedEdgeText(hole: number, ring: number, place: string): string {
  return ring === 0
    ? `hole ${hole} shares an edge with the outer ring near ${place}; cut it out of the outer ring instead`
    : `hole ${hole} shares an edge with hole ${ring} near ${place}; merge the two into one hole`;
}
