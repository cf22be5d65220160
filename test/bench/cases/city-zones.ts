import type { Zone } from "../../../src/domain/coverage/coverage.ts";
import type { Point } from "../../../src/domain/coverage/geo.ts";

const BOUNDS = { west: -125, south: 25, east: -67, north: 49 } as const;
const VERTICES = 30;
/** How far a vertex lies from the middle of its zone, as a share of the zone's cell. */
const NEAREST = 0.35;
const FARTHEST = 0.5;

/**
 * So many zones over the United States, one in each cell of a grid. Each goes once round its
 * middle, near here and far there, and so never crosses itself; together they cover about half.
 * The same every time.
 */
export function cityZones(count: number): Zone[] {
  const random = createRandom(count);
  const side = Math.ceil(Math.sqrt(count));
  const width = (BOUNDS.east - BOUNDS.west) / side;
  const height = (BOUNDS.north - BOUNDS.south) / side;
  return Array.from({ length: count }, (_, i) => {
    const lng = BOUNDS.west + ((i % side) + 0.5) * width;
    const lat = BOUNDS.south + (Math.floor(i / side) + 0.5) * height;
    const ring = Array.from({ length: VERTICES }, (_vertex, vertex) => {
      const angle = (vertex / VERTICES) * 2 * Math.PI;
      const reach = NEAREST + random() * (FARTHEST - NEAREST);
      return [lng + Math.cos(angle) * reach * width, lat + Math.sin(angle) * reach * height];
    });
    return { id: String(i + 1), name: `Zone ${i + 1}`, polygons: [[[...ring, ring[0]!]]] };
  });
}

/** So many places anywhere within the grid of a number of zones. The same every time. */
export function cityPoints(zones: number, count: number): Point[] {
  const random = createRandom(zones + 1);
  const rows = Math.ceil(zones / Math.ceil(Math.sqrt(zones)));
  const north = BOUNDS.south + ((BOUNDS.north - BOUNDS.south) * rows) / Math.ceil(Math.sqrt(zones));
  return Array.from({ length: count }, () => ({
    lng: BOUNDS.west + random() * (BOUNDS.east - BOUNDS.west),
    lat: BOUNDS.south + random() * (north - BOUNDS.south),
  }));
}

/**
 * Numbers from 0 to 1 that look random, and are the same for the same seed: the linear congruential
 * generator of Numerical Recipes.
 */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
