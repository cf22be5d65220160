import type { MultiPolygon, Polygon, Position } from "geojson";
import polylabel from "polylabel";
import type { Box, Spot } from "./map-frame.ts";

/** A polygon on a map: its outline, and then its holes. */
export type Rings = readonly (readonly Spot[])[];

/** The polygons that an area consists of. */
export function polygonsOf(geometry: Polygon | MultiPolygon): readonly Position[][][] {
  return geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;
}

/** The point of an area that is farthest from its outline, where its name has most room. */
export function namePoint(polygons: readonly Rings[]): Spot {
  const largest = polygons.reduce((one, other) => (areaOf(other) > areaOf(one) ? other : one));
  const [x, y] = polylabel(
    largest.map((ring) => ring.map(([along, down]) => [along, down])),
    Math.sqrt(areaOf(largest)) / 100,
  );
  return [x!, y!];
}

/** Twice the area that the outline of a polygon encloses. */
function areaOf([outline = []]: Rings): number {
  let area = 0;
  outline.forEach(([x, y], i) => {
    const [nextX, nextY] = outline[(i + 1) % outline.length]!;
    area += x * nextY - nextX * y;
  });
  return Math.abs(area);
}

/** A text that may stand on the map, the middle of it at a point. */
export interface Label {
  readonly text: string;
  readonly at: Spot;
  readonly width: number;
  readonly height: number;
}

/** At most so many texts stand on a map at once. */
const MOST_LABELS = 150;

/** Leaves out labels that would lie over one that comes before them, or over a box that is taken. */
export function withoutOverlaps<T extends Label>(
  labels: Iterable<T>,
  taken: readonly Box[],
): readonly T[] {
  const boxes = [...taken];
  const kept: T[] = [];
  for (const label of labels) {
    if (kept.length === MOST_LABELS) break;
    const box = boxAround(label);
    if (boxes.some((other) => overlaps(box, other))) continue;
    boxes.push(box);
    kept.push(label);
  }
  return kept;
}

/** The room of a label, with some air around it. */
export function boxAround({ at: [x, y], width, height }: Label): Box {
  const [halfWidth, halfHeight] = [width / 2 + 4, height / 2 + 2];
  return { left: x - halfWidth, top: y - halfHeight, right: x + halfWidth, bottom: y + halfHeight };
}

function overlaps(one: Box, other: Box): boolean {
  return (
    one.left < other.right &&
    other.left < one.right &&
    one.top < other.bottom &&
    other.top < one.bottom
  );
}
