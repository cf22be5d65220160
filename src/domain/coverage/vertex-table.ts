/** Positions by number, each once. */
export interface VertexTable {
  /** In degrees, by vertex. */
  readonly lng: Float64Array;
  readonly lat: Float64Array;
  readonly count: () => number;
  /** The number of a position, from 0 on; the next one when it is new. */
  vertexAt(lng: number, lat: number): number;
}

/**
 * Builds a table for up to `max` positions: a hash table with linear probing in typed arrays, of which
 * five million take 150 MiB; in maps they would take a gigabyte.
 */
export function createVertexTable(max: number): VertexTable {
  const mask = 2 ** Math.ceil(Math.log2(max * 2 + 2)) - 1;
  /** The number of the vertex in a slot, plus 1; 0 for none. */
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
    vertexAt(lng, lat) {
      // Adding 0 makes 0 of -0, which is the same place.
      key[0] = lng + 0;
      key[1] = lat + 0;
      for (let slot = firstSlot(); ; slot = (slot + 1) & mask) {
        const vertex = (slots[slot] as number) - 1;
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
