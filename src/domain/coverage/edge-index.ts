import Flatbush from "flatbush";
import { at, endOf } from "./outline.ts";
import type { Outline } from "./outline.ts";
import { scatteredOrder } from "./scattered-order.ts";
import type { Corner } from "./segments.ts";

/** Finds edges of an outline by their bounding boxes. */
export interface EdgeIndex {
  /**
   * Shows `visit` the numbers of the edges whose boxes meet a box, in any order, until it returns
   * true.
   */
  visit(
    west: number,
    south: number,
    east: number,
    north: number,
    visit: (edge: number) => boolean,
  ): void;
}

/** How many more edges searches may show, together; at 0 or less they show no more. */
export interface EdgeVisits {
  left: number;
}

/** Indexes the bounding boxes of an outline's edges; searches end where `visits` does. */
export function indexEdges(outline: Outline, visits: EdgeVisits): EdgeIndex {
  const order = scatteredOrder(outline.start.length);
  const boxes = new Flatbush(order.length);
  for (const edge of order) {
    const [west, south, east, north] = boxAround(at(outline.start, edge), endOf(outline, edge));
    boxes.add(west, south, east, north);
  }
  boxes.finish();
  return {
    visit(west, south, east, north, visit) {
      boxes.collides(west, south, east, north, (i) => --visits.left <= 0 || visit(at(order, i)));
    },
  };
}

/**
 * The first error that `errorOf` finds among the pairs of edges whose boxes meet, in the order of
 * the edges' numbers. It sees each pair at most once, the lower number first.
 */
export function firstErrorBetweenEdges(
  outline: Outline,
  edges: EdgeIndex,
  errorOf: (outline: Outline, edge: number, other: number) => string | undefined,
): string | undefined {
  for (const [edge, start] of outline.start.entries()) {
    const [west, south, east, north] = boxAround(start, endOf(outline, edge));
    let error: string | undefined;
    let first = Infinity;
    edges.visit(west, south, east, north, (other) => {
      if (other <= edge || other >= first) return false;
      const found = errorOf(outline, edge, other);
      if (found !== undefined) [error, first] = [found, other];
      return false;
    });
    if (error !== undefined) return error;
  }
  return undefined;
}

function boxAround(
  a: Corner,
  b: Corner,
): [west: number, south: number, east: number, north: number] {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])];
}
