import type { Polygon } from "./geo.ts";

/**
 * Rings with shared vertices. A border is the part of one or more rings between two junctions, where all of these
 * rings have the same vertices. A vertex that is not a junction belongs to exactly one border.
 */
export interface SharedBorders {
  /** Longitude of each vertex, in degrees. */
  readonly lng: Float64Array;
  readonly lat: Float64Array;
  /** 1 for a junction, where rings diverge and borders end, otherwise 0. */
  readonly isJunction: Uint8Array;
  /** Vertices of each ring of each polygon, without the closing vertex and repeated neighbors. */
  readonly polygons: readonly (readonly Uint32Array[])[];
}

/** Finds shared vertices and junctions of rings in linear time. */
export function findSharedBorders(polygons: readonly Polygon[]): SharedBorders {
  const positions = polygons.reduce(
    (sum, polygon) => sum + polygon.reduce((ofPolygon, ring) => ofPolygon + ring.length, 0),
    0,
  );
  const table = createVertexTable(positions);
  const numbered = polygons.map((polygon) =>
    polygon.map((ring) => {
      const vertices = ring.map(([lng, lat]) => table.vertexAt(lng as number, lat as number));
      return Uint32Array.from(vertices.slice(0, -1).filter((vertex, i) => vertex !== vertices[i + 1]));
    }),
  );
  const isJunction = findJunctions(numbered, table.count());
  return { lng: table.lng, lat: table.lat, isJunction, polygons: numbered };
}

/** Marks a vertex whose neighbors are not known yet. */
const NONE = 0xffff_ffff;

/** Marks the vertices whose two neighbors differ between rings. */
function findJunctions(polygons: readonly (readonly Uint32Array[])[], vertices: number): Uint8Array {
  const isJunction = new Uint8Array(vertices);
  const one = new Uint32Array(vertices).fill(NONE);
  const other = new Uint32Array(vertices);
  for (const ring of polygons.flat()) {
    let before = ring.at(-1)!;
    for (const [i, vertex] of ring.entries()) {
      const after = ring[(i + 1) % ring.length]!;
      if (one[vertex] === NONE) {
        one[vertex] = before;
        other[vertex] = after;
      } else {
        const same = one[vertex] === before && other[vertex] === after;
        const turned = one[vertex] === after && other[vertex] === before;
        if (!same && !turned) isJunction[vertex] = 1;
      }
      before = vertex;
    }
  }
  return isJunction;
}

/**
 * Creates a table that assigns numbers to up to `max` distinct positions. It is a hash table with linear probing in
 * typed arrays. Five million positions take 150 MiB, compared with a gigabyte in a Map.
 */
function createVertexTable(max: number) {
  const mask = 2 ** Math.ceil(Math.log2(max * 2 + 2)) - 1;
  /** Vertex number in each slot, plus 1. 0 if the slot is empty. */
  const slots = new Uint32Array(mask + 1);
  const lngs = new Float64Array(max);
  const lats = new Float64Array(max);
  const key = new Float64Array(2);
  const bits = new Uint32Array(key.buffer);
  let count = 0;

  function firstSlot(): number {
    let hash = 0;
    for (const word of bits) hash = Math.imul(hash ^ word, 0x9e37_79b1) ^ (hash >>> 15);
    return (hash ^ (hash >>> 13)) & mask;
  }

  return {
    lng: lngs,
    lat: lats,
    count: () => count,
    /** Returns the number of a position, from 0. Assigns the next number to a new position. */
    vertexAt(lng: number, lat: number): number {
      // -0 and 0 are the same position. Adding 0 turns -0 into 0.
      key[0] = lng + 0;
      key[1] = lat + 0;
      for (let slot = firstSlot(); ; slot = (slot + 1) & mask) {
        const vertex = slots[slot]! - 1;
        if (vertex === -1) {
          slots[slot] = count + 1;
          lngs[count] = key[0];
          lats[count] = key[1];
          return count++;
        }
        if (lngs[vertex] === key[0] && lats[vertex] === key[1]) return vertex;
      }
    },
  };
}
