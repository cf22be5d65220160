import type { EdgeIndex } from "./edge-index.ts";
import { at, endOf, ringName } from "./outline.ts";
import type { Outline } from "./outline.ts";
import { liesOn, sideOf } from "./segments.ts";
import type { Corner } from "./segments.ts";

/**
 * What is wrong with a hole outside the outer ring or inside another hole; undefined when there is
 * none. The rings must not pass through each other, so that one corner of a hole tells where all of
 * it lies; where that corner touches another ring, `ringContactError` has already checked the two.
 */
export function misplacedHoleError(outline: Outline, edges: EdgeIndex): string | undefined {
  for (let hole = 1; hole + 1 < outline.firstOf.length; hole++) {
    const { around, touched } = ringsAt(outline, edges, hole);
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
function ringsAt(outline: Outline, edges: EdgeIndex, hole: number) {
  const p = at(outline.start, at(outline.firstOf, hole));
  const around = new Set<number>();
  const touched = new Set<number>();
  edges.visit(p[0], p[1], Infinity, p[1], (edge) => {
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
