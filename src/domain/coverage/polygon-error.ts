import { ringContactError, selfContactError } from "./edge-contact-errors.ts";
import { firstErrorBetweenEdges, indexEdges, type EdgeIndex, type EdgeVisits } from "./edge-index.ts";
import type { Polygon } from "./geo.ts";
import { cornersOf, endOf, outlineOf, ringName, type Outline } from "./outline.ts";
import { liesOn, sideOf, type Corner } from "./segments.ts";

/**
 * Maximum number of edges that the shape checks of one tariff visit, about a minute of work. Real
 * maps need 3 to 20 visits per position, and a tariff has up to five million positions.
 */
export const MAX_EDGE_VISITS = 300_000_000;

/**
 * Returns the error in the shape of a polygon and its fix, or `undefined` if the shape is valid. The rings must be
 * closed lists of finite positions in range.
 *
 * In a valid polygon, no ring crosses or touches itself (consecutive equal positions count as one), holes lie inside
 * the outer ring and outside each other, and two rings meet only in single points. The winding order does not matter
 * (RFC 7946, 3.1.6: parsers should not reject it).
 *
 * The check is exact, without a tolerance. It takes about n log n for n positions of typical maps, but up to n² if the
 * bounding boxes of most edges overlap, as for long parallel diagonals. `visits` therefore limits the total work for
 * all polygons of a tariff.
 */
export function polygonError(polygon: Polygon, visits: EdgeVisits = { left: MAX_EDGE_VISITS }): string | undefined {
  const error = shapeError(polygon, visits);
  return visits.left > 0 ? error : TOO_MANY_VISITS;
}

const TOO_MANY_VISITS =
  "here and in earlier zones, there are too many long parallel edges to check; " +
  "simplify them or split their polygons into smaller ones";

function shapeError(polygon: Polygon, visits: EdgeVisits): string | undefined {
  const rings = cornersOf(polygon);
  const collapsed = rings.findIndex((corners) => corners.length < 3);
  if (collapsed !== -1) {
    return `${ringName(collapsed)} has fewer than three different positions; give it at least three corners`;
  }

  const outline = outlineOf(rings);
  const edges = indexEdges(outline, visits);
  const ofOneRing = firstErrorBetweenEdges(outline, edges, selfContactError);
  if (ofOneRing !== undefined || polygon.length === 1) return ofOneRing;
  return firstErrorBetweenEdges(outline, edges, ringContactError) ?? misplacedHoleError(outline, edges);
}

/**
 * Returns the error if a hole lies outside the outer ring or inside another hole, or `undefined`.
 * The rings must not cross, so the position of one corner determines the position of the whole
 * hole. If that corner touches another ring, `ringContactError` has already checked the two.
 */
function misplacedHoleError(outline: Outline, edges: EdgeIndex): string | undefined {
  for (let hole = 1; hole + 1 < outline.firstOf.length; hole++) {
    const { around, touched } = ringsAt(outline, edges, hole);
    if (!around.has(0) && !touched.has(0)) {
      return `${ringName(hole)} lies outside the outer ring; draw it as a separate polygon or remove it`;
    }
    for (const ring of around) {
      if (ring === 0 || touched.has(ring)) continue;
      return `${ringName(hole)} lies inside ${ringName(ring)}; draw an island as a separate polygon, or remove it`;
    }
  }
  return undefined;
}

/**
 * Returns the rings that enclose a hole's first corner and the rings that touch it, including the hole itself. A ray
 * from the corner to the east crosses an enclosing ring an odd number of times (M. Shimrat, Algorithm 112, 1962).
 */
function ringsAt(outline: Outline, edges: EdgeIndex, hole: number) {
  const p = outline.start[outline.firstOf[hole]!]!;
  const around = new Set<number>();
  const touched = new Set<number>();
  edges.visit(p[0], p[1], Infinity, p[1], (edge) => {
    const ring = outline.ring[edge]!;
    const start = outline.start[edge]!;
    const end = endOf(outline, edge);
    if (liesOn(p, start, end)) touched.add(ring);
    else if (crossesRay(p, start, end) && !around.delete(ring)) around.add(ring);
    return false;
  });
  return { around, touched };
}

/** Whether a segment crosses the ray from p to the east. An endpoint at the height of p counts as below it. */
function crossesRay(p: Corner, start: Corner, end: Corner): boolean {
  const rises = end[1] > p[1];
  return start[1] > p[1] !== rises && sideOf(start, end, p) === (rises ? 1 : -1);
}
