import Flatbush from "flatbush";
import { endOf } from "./outline.ts";
import type { Outline } from "./outline.ts";
import type { Corner } from "./segments.ts";

/** The bounding boxes of an outline's edges, under the numbers of the edges. */
export function indexEdges(outline: Outline): Flatbush {
  const boxes = new Flatbush(outline.start.length);
  for (const [edge, start] of outline.start.entries()) {
    const [west, south, east, north] = boxAround(start, endOf(outline, edge));
    boxes.add(west, south, east, north);
  }
  boxes.finish();
  return boxes;
}

/**
 * The first error that `errorOf` finds among the pairs of edges whose boxes meet. It sees each pair
 * once, the lower number first.
 */
export function firstErrorBetweenEdges(
  outline: Outline,
  boxes: Flatbush,
  errorOf: (outline: Outline, edge: number, other: number) => string | undefined,
): string | undefined {
  let error: string | undefined;
  for (const [edge, start] of outline.start.entries()) {
    const [west, south, east, north] = boxAround(start, endOf(outline, edge));
    boxes.collides(
      west,
      south,
      east,
      north,
      (other) => other > edge && (error = errorOf(outline, edge, other)) !== undefined,
    );
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
