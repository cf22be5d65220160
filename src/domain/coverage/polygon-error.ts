import { ringContactError, selfContactError } from "./edge-contact-errors.ts";
import { firstErrorBetweenEdges, indexEdges } from "./edge-index.ts";
import type { EdgeVisits } from "./edge-index.ts";
import type { Polygon } from "./geo.ts";
import { misplacedHoleError } from "./misplaced-hole-error.ts";
import { cornersOf, outlineOf, ringName } from "./outline.ts";

/**
 * How many edges the checks of a tariff's polygons may look at: about a minute's work at most. Maps
 * need 3 to 20 for each position, and a tariff has up to five million positions.
 */
export const MAX_EDGE_VISITS = 300_000_000;

/**
 * What is wrong with the shape of a polygon and how to fix it, or undefined when it is sound.
 * The rings must already be closed lists of finite positions in range.
 *
 * Sound means: no ring crosses or touches itself (consecutive equal positions count as one); holes
 * lie inside the outer ring and outside each other, and two rings meet in single points at most.
 * The winding order is free (RFC 7946, 3.1.6: parsers should not reject it).
 *
 * Exact, without a tolerance. Takes about n log n for n positions as they occur in maps; up to n²
 * where the bounding boxes of most edges overlap, as those of long parallel diagonals do, which is
 * why `visits` is bounded, and counted down over all polygons of a tariff.
 */
export function polygonError(
  polygon: Polygon,
  visits: EdgeVisits = { left: MAX_EDGE_VISITS },
): string | undefined {
  const error = shapeError(polygon, visits);
  return visits.left > 0 ? error : TOO_MANY_VISITS;
}

const TOO_MANY_VISITS =
  "too many long edges run side by side, here and in the zones before, for all to be checked; " +
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
  return (
    firstErrorBetweenEdges(outline, edges, ringContactError) ?? misplacedHoleError(outline, edges)
  );
}
