import { closestOnSegment, type Coordinate, distance } from "ol/coordinate.js";
import type { Corner } from "./outline.ts";

/** The border of a neighboring zone: a ring without its closing position. */
export type Border = readonly Corner[];

/** A point on a border. */
export interface BorderPoint {
  readonly corner: Corner;
  readonly border: Border;
  /** Index of the corner before the point, plus the share of the edge up to the point. */
  readonly at: number;
}

/**
 * Returns the nearest corner of the borders within a distance, otherwise the nearest point of an edge within that
 * distance. Edges are straight in longitude and latitude, as in the service.
 *
 * @param reach maximum distance, in degrees of latitude
 */
export function nearestOnBorders([lng, lat]: Corner, borders: readonly Border[], reach: number) {
  const shrink = Math.cos((lat * Math.PI) / 180);
  const flat = ([x, y]: Corner): Coordinate => [x * shrink, y];
  const point = flat([lng, lat]);
  let nearest: { readonly isCorner: boolean; readonly away: number; readonly found: BorderPoint } | undefined;
  const consider = (found: BorderPoint, away: number, isCorner: boolean) => {
    if (away > reach || (nearest?.isCorner && !isCorner)) return;
    if (nearest === undefined || away < nearest.away || (isCorner && !nearest.isCorner)) {
      nearest = { isCorner, away, found };
    }
  };
  for (const border of borders) {
    for (const [i, corner] of border.entries()) {
      const [from, to] = [flat(corner), flat(border[(i + 1) % border.length]!)];
      consider({ corner, border, at: i }, distance(point, from), true);
      const [x, y] = closestOnSegment(point, [from, to]);
      const share = distance(from, [x!, y!]) / (distance(from, to) || 1);
      consider({ corner: [x! / shrink, y!], border, at: i + share }, distance(point, [x!, y!]), false);
    }
  }
  return nearest?.found;
}

/** Returns the corners of a border between two of its points, the shorter way. Empty for different borders. */
export function cornersBetween(from: BorderPoint, to: BorderPoint): readonly Corner[] {
  if (from.border !== to.border) return [];
  const ways = [cornersFrom(from, to), cornersFrom(to, from).toReversed()] as const;
  const [forward, backward] = ways.map((way) => lengthOf([from.corner, ...way, to.corner]));
  return forward! <= backward! ? ways[0] : ways[1];
}

function cornersFrom(from: BorderPoint, to: BorderPoint): readonly Corner[] {
  const { border } = from;
  const end = to.at < from.at ? to.at + border.length : to.at;
  const first = Math.floor(from.at) + 1;
  const count = Math.max(Math.ceil(end) - first, 0);
  return Array.from({ length: count }, (_, i) => border[(first + i) % border.length]!);
}

function lengthOf(line: readonly Corner[]): number {
  return line.slice(1).reduce((sum, corner, i) => sum + distance([...corner], [...line[i]!]), 0);
}
