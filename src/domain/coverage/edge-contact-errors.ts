import { endOf, ringName, type Outline } from "./outline.ts";
import { compareCorners, crossingOf, meetingOf, sideOfPath, type Corner, type Meeting } from "./segments.ts";

/**
 * Returns the error if two edges of one ring touch and are not consecutive. Returns `undefined` if
 * they are valid or belong to different rings.
 */
export function selfContactError(outline: Outline, edge: number, other: number): string | undefined {
  if (outline.ring[edge]! !== outline.ring[other]!) return undefined;
  const meeting = meetingOfEdges(outline, edge, other);
  if (meeting === undefined) return undefined;

  const name = ringName(outline.ring[edge]!);
  const point = meetingText(outline, edge, other, meeting);
  if (meeting === "cross") {
    return `${name} crosses itself near ${point}; redraw it so that its edges meet only at their ends`;
  }
  if (meeting === "overlap") {
    return `${name} runs back over itself near ${point}; remove the doubled stretch`;
  }
  if (follow(outline, edge, other)) return undefined;
  return `${name} touches itself at ${shown(meeting)}; split it there into two rings`;
}

function follow({ next }: Outline, edge: number, other: number): boolean {
  return next[edge] === other || next[other] === edge;
}

/**
 * Returns the error if edges of two rings overlap or cross. Rings may touch only in single points.
 * Returns `undefined` if they are valid or belong to the same ring.
 */
export function ringContactError(outline: Outline, edge: number, other: number): string | undefined {
  // Edges are numbered ring by ring, so the edge with the lower number belongs to the ring with the lower number.
  const ring = outline.ring[edge]!;
  const hole = outline.ring[other]!;
  if (ring === hole) return undefined;
  const meeting = meetingOfEdges(outline, edge, other);
  if (meeting === undefined) return undefined;

  const point = meetingText(outline, edge, other, meeting);
  if (meeting === "overlap") return sharedEdgeText(hole, ring, point);
  if (meeting === "cross") return overreachText(hole, ring, point);
  const valid =
    ring === 0
      ? keepsTo(INSIDE, outline, other, edge, meeting)
      : keepsTo(OUTSIDE, outline, other, edge, meeting) && keepsTo(OUTSIDE, outline, edge, other, meeting);
  return valid ? undefined : overreachText(hole, ring, point);
}

const INSIDE = 1;
const OUTSIDE = -1;

/**
 * Whether the first edge's ring stays on the given side of the other edge's ring near p, where the
 * two edges touch. A direction along the other ring counts as neither side. Rings that run together
 * are detected by another pair of overlapping edges.
 */
function keepsTo(side: number, outline: Outline, edge: number, other: number, p: Corner): boolean {
  const [before, after] = pathThrough(outline, other, p);
  const left = outline.anticlockwise[outline.ring[other]!] ? INSIDE : OUTSIDE;
  return pathThrough(outline, edge, p).every((corner) => sideOfPath(before, p, after, corner) * left !== -side);
}

/** Returns the corners before and after a point p of an edge, along its ring. */
function pathThrough(outline: Outline, edge: number, p: Corner): [before: Corner, after: Corner] {
  const { start, previous, next } = outline;
  const end = endOf(outline, edge);
  if (compareCorners(p, start[edge]!) === 0) return [start[previous[edge]!]!, end];
  if (compareCorners(p, end) === 0) return [start[edge]!, endOf(outline, next[edge]!)];
  return [start[edge]!, end];
}

function meetingOfEdges(outline: Outline, edge: number, other: number): Meeting {
  const { start } = outline;
  return meetingOf(start[edge]!, endOf(outline, edge), start[other]!, endOf(outline, other));
}

/** Formats the point in which two edges meet: the crossing, the common point, or the start of the second edge if they overlap. */
function meetingText(outline: Outline, edge: number, other: number, meeting: NonNullable<Meeting>): string {
  const { start } = outline;
  if (meeting === "overlap") return shown(start[other]!);
  if (meeting !== "cross") return shown(meeting);
  return shown(crossingOf(start[edge]!, endOf(outline, edge), start[other]!, endOf(outline, other)));
}

function shown([lng, lat]: Corner): string {
  return `[${lng}, ${lat}]`;
}

function overreachText(hole: number, ring: number, point: string): string {
  return ring === 0
    ? `hole ${hole} reaches outside the outer ring at or near ${point}; keep it inside`
    : `hole ${hole} overlaps hole ${ring} at or near ${point}; merge the two into one hole`;
}

function sharedEdgeText(hole: number, ring: number, point: string): string {
  return ring === 0
    ? `hole ${hole} shares an edge with the outer ring near ${point}; cut it out of the outer ring instead`
    : `hole ${hole} shares an edge with hole ${ring} near ${point}; merge the two into one hole`;
}
