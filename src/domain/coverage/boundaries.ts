import { boundsOf } from "./packed-polygons.ts";
import type { PackedPolygons } from "./packed-polygons.ts";

/**
 * The boundaries of polygons, cut into stretches of a few edges, under a binary tree of boxes.
 * Stretch s has the positions from stretchStart[s] up to and with stretchEnd[s]. Node n, from 1 on,
 * has the children 2n and 2n + 1, and the stretches are the last nodes. A box is four numbers, west,
 * south, east and north in degrees, in single precision for half the memory.
 */
export interface Boundaries {
  readonly coordinates: Float64Array;
  readonly stretchStart: Uint32Array;
  readonly stretchEnd: Uint32Array;
  readonly boxes: Float32Array;
}

/** Few enough to measure each of them, and enough to keep the tree small beside the positions. */
const EDGES_PER_STRETCH = 16;

/**
 * Indexes the boundaries of polygons, of which there must be some.
 *
 * @param order The numbers of all polygons, in any order; searches are quick when polygons that
 *   follow each other are near each other.
 */
export function indexBoundaries(packed: PackedPolygons, order: readonly number[]): Boundaries {
  const { coordinates } = packed;
  const { stretchStart, stretchEnd } = cutIntoStretches(packed, order);
  const count = stretchStart.length;
  const boxes = new Float32Array(count * 2 * 4);
  for (let s = 0; s < count; s++) {
    const end = (stretchEnd[s] as number) + 2;
    const { west, south, east, north } = boundsOf(coordinates, stretchStart[s] as number, end);
    boxes.set([west, south, east, north], (count + s) * 4);
  }
  for (let node = count - 1; node > 0; node--) setBoxAroundChildren(boxes, node);
  return { coordinates, stretchStart, stretchEnd, boxes };
}

function cutIntoStretches({ ringStart, polygonStart }: PackedPolygons, order: readonly number[]) {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const polygon of order) {
    const endRing = polygonStart[polygon + 1] as number;
    for (let ring = polygonStart[polygon] as number; ring < endRing; ring++) {
      const lastPosition = (ringStart[ring + 1] as number) - 2;
      for (let i = ringStart[ring] as number; i < lastPosition; i += EDGES_PER_STRETCH * 2) {
        starts.push(i);
        ends.push(Math.min(i + EDGES_PER_STRETCH * 2, lastPosition));
      }
    }
  }
  return { stretchStart: Uint32Array.from(starts), stretchEnd: Uint32Array.from(ends) };
}

function setBoxAroundChildren(boxes: Float32Array, node: number): void {
  const box = node * 4;
  const left = box * 2;
  const right = left + 4;
  for (let side = 0; side < 4; side++) {
    const outermost = side < 2 ? Math.min : Math.max;
    boxes[box + side] = outermost(boxes[left + side] as number, boxes[right + side] as number);
  }
}
