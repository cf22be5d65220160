import Flatbush from "flatbush";
import { endOf, type Outline } from "./outline.ts";
import type { Corner } from "./segments.ts";

export type EdgeIndex = ReturnType<typeof indexEdges>;

/** Remaining edge visits of all searches. */
export interface EdgeVisits {
  left: number;
}

/** Indexes the bounding boxes of an outline's edges. Searches stop when the `visits` budget is used up. */
export function indexEdges(outline: Outline, visits: EdgeVisits) {
  const order = stridedPermutation(outline.start.length);
  const boxes = new Flatbush(order.length);
  for (const edge of order) {
    const [west, south, east, north] = boxAround(outline.start[edge]!, endOf(outline, edge));
    boxes.add(west, south, east, north);
  }
  boxes.finish();
  return {
    /**
     * Calls `visit` for each edge whose bounding box intersects the given box, in any order, until it returns true.
     */
    visit(west: number, south: number, east: number, north: number, visit: (edge: number) => boolean): void {
      boxes.collides(west, south, east, north, (i) => --visits.left <= 0 || visit(order[i]!));
    },
  };
}

/**
 * Returns the first error that `errorOf` finds in pairs of edges with intersecting boxes, in the
 * order of edge numbers. Checks each pair at most once, with the lower number first.
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

function boxAround(a: Corner, b: Corner): [west: number, south: number, east: number, north: number] {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])];
}

/**
 * Returns the whole numbers below `count` in an order that scatters neighbors. With 400,000 sorted
 * edges of a narrow band, Flatbush's quicksort takes 5 s. In this order it takes 0.4 s.
 *
 * Numbers advance by a stride near `count` divided by the golden ratio, which spreads them evenly
 * (D. E. Knuth, The Art of Computer Programming 3, 6.4, Fibonacci hashing). The stride is coprime
 * to `count`, so each number occurs once.
 */
export function stridedPermutation(count: number): Uint32Array {
  let stride = Math.max(1, Math.floor(count * GOLDEN));
  while (greatestCommonDivisor(stride, count) > 1) stride++;
  const order = new Uint32Array(count);
  for (let i = 1; i < count; i++) order[i] = (order[i - 1]! + stride) % count;
  return order;
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
