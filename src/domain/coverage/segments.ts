import { orient2d } from "robust-predicates";

/** A longitude and latitude treated as a point in a plane, in degrees. */
export type Corner = readonly [lng: number, lat: number];

/**
 * Intersection of two segments: `undefined` if they are disjoint, "cross" if they cross inside both, "overlap" if
 * they share more than a point, or the single common point, which is an endpoint of at least one of them.
 */
export type Meeting = undefined | "cross" | "overlap" | Corner;

/**
 * Returns the side of the line from a to b on which c lies: 1 for left, −1 for right, 0 on the
 * line. Exact (J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust
 * Geometric Predicates", 1997). The sign is inverted because the library's y axis points down.
 */
export function sideOf(a: Corner, b: Corner, c: Corner): number {
  return -Math.sign(orient2d(a[0], a[1], b[0], b[1], c[0], c[1]));
}

/** Returns the intersection of the segments a to b and c to d, both of non-zero length. */
export function meetingOf(a: Corner, b: Corner, c: Corner, d: Corner): Meeting {
  const sideOfC = sideOf(a, b, c);
  const sideOfD = sideOf(a, b, d);
  if (sideOfC * sideOfD > 0) return undefined;
  const sideOfA = sideOf(c, d, a);
  const sideOfB = sideOf(c, d, b);
  if (sideOfA * sideOfB > 0) return undefined;
  if (sideOfC === 0 && sideOfD === 0) return meetingOnOneLine(a, b, c, d);
  // Each segment touches or crosses the line through the other, so an endpoint on the other segment's line is also on
  // that segment.
  if (sideOfC === 0) return c;
  if (sideOfD === 0) return d;
  if (sideOfA === 0) return a;
  if (sideOfB === 0) return b;
  return "cross";
}

/** Returns the point in which the segments a to b and c to d cross, rounded to six decimals. */
export function crossingOf(a: Corner, b: Corner, c: Corner, d: Corner): Corner {
  const [dx, dy, ex, ey] = [b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]];
  const share = ((c[0] - a[0]) * ey - (c[1] - a[1]) * ex) / (dx * ey - dy * ex);
  // The denominator of almost parallel segments can underflow.
  if (!Number.isFinite(share)) return c;
  return [rounded(a[0] + share * dx), rounded(a[1] + share * dy)];
}

function rounded(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6;
}

function meetingOnOneLine(a: Corner, b: Corner, c: Corner, d: Corner): Meeting {
  const from = later(earlier(a, b), earlier(c, d));
  const to = earlier(later(a, b), later(c, d));
  const order = compareCorners(from, to);
  if (order > 0) return undefined;
  return order === 0 ? from : "overlap";
}

/** Compares corners by longitude, then latitude. Corners on one line are sorted along the line. */
export function compareCorners(a: Corner, b: Corner): number {
  return a[0] - b[0] || a[1] - b[1];
}

function earlier(a: Corner, b: Corner): Corner {
  return compareCorners(a, b) <= 0 ? a : b;
}

function later(a: Corner, b: Corner): Corner {
  return compareCorners(a, b) <= 0 ? b : a;
}

/** Whether p lies on the segment from a to b, endpoints included. */
export function liesOn(p: Corner, a: Corner, b: Corner): boolean {
  return sideOf(a, b, p) === 0 && compareCorners(earlier(a, b), p) <= 0 && compareCorners(p, later(a, b)) <= 0;
}

/**
 * Returns the side of the path from `before` through p to `after` on which c lies, seen from p: 1 for left (in the
 * angle counterclockwise from `after` to `before`), −1 for right, 0 along the path.
 */
export function sideOfPath(before: Corner, p: Corner, after: Corner, c: Corner): number {
  if (isSameWay(p, before, c) || isSameWay(p, after, c)) return 0;
  const leftOfBefore = sideOf(before, p, c) > 0;
  const leftOfAfter = sideOf(p, after, c) > 0;
  // If the path turns right, more than half of the plane is on its left.
  const turnsRight = sideOf(before, p, after) < 0;
  const left = turnsRight ? leftOfBefore || leftOfAfter : leftOfBefore && leftOfAfter;
  return left ? 1 : -1;
}

/** Whether a and b lie in the same direction from p, on a line with p. */
function isSameWay(p: Corner, a: Corner, b: Corner): boolean {
  return sideOf(p, a, b) === 0 && compareCorners(p, a) > 0 === compareCorners(p, b) > 0;
}
