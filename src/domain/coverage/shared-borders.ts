import type { Polygon } from "./geo.ts";
import { createVertexTable } from "./vertex-table.ts";

/**
 * Rings by the vertices that they share. A border is a stretch of one or more rings between two
 * junctions, with the same vertices in all of them; a vertex that is no junction belongs to one border.
 */
export interface SharedBorders {
  /** By vertex, in degrees. */
  readonly lng: Float64Array;
  readonly lat: Float64Array;
  /** 1 for a vertex where borders end, since rings come to it from different sides; else 0. */
  readonly isJunction: Uint8Array;
  /** The vertices of each ring, of each polygon, without repeating the first or a neighbour. */
  readonly polygons: readonly (readonly Uint32Array[])[];
}

/** Finds out which vertices rings share, and where their ways part. Takes linear time. */
export function findSharedBorders(polygons: readonly Polygon[]): SharedBorders {
  const positions = polygons.reduce(
    (sum, polygon) => sum + polygon.reduce((ofPolygon, ring) => ofPolygon + ring.length, 0),
    0,
  );
  const table = createVertexTable(positions);
  const numbered = polygons.map((polygon) =>
    polygon.map((ring) => {
      const vertices = ring.map(([lng, lat]) => table.vertexAt(lng as number, lat as number));
      return Uint32Array.from(
        vertices.slice(0, -1).filter((vertex, i) => vertex !== vertices[i + 1]),
      );
    }),
  );
  const isJunction = findJunctions(numbered, table.count());
  return { lng: table.lng, lat: table.lat, isJunction, polygons: numbered };
}

/** Stands for no neighbour yet. */
const NONE = 0xffff_ffff;

/** A vertex is a junction when it does not have the same two neighbours wherever it occurs. */
function findJunctions(
  polygons: readonly (readonly Uint32Array[])[],
  vertices: number,
): Uint8Array {
  const isJunction = new Uint8Array(vertices);
  const one = new Uint32Array(vertices).fill(NONE);
  const other = new Uint32Array(vertices);
  for (const ring of polygons.flat()) {
    let before = ring.at(-1) as number;
    for (const [i, vertex] of ring.entries()) {
      const after = ring[(i + 1) % ring.length] as number;
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
