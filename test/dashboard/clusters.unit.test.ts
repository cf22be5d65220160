import { expect, test } from "vitest";
import { createClusters, type Mark } from "../../src/dashboard/map/clusters.ts";

/** Marks, newest first: two 600 m apart, two at one point, and a single one. */
const MARKS: readonly Mark<string>[] = [
  mark("e", 40.758, -73.9855),
  mark("d", 40.7625, -73.981),
  mark("c", 40.85, -73.88),
  mark("b", 40.85, -73.88),
  mark("a", 40.73, -73.8),
];

const EDGES = [-75, 40, -73, 41] as const;
/** Size of the world at which the first two marks form a cluster. */
const WORLD_SIZE = 512 * 2 ** 10;

function mark(key: string, lat: number, lng: number): Mark<string> {
  return { lat, lng, key, of: `shipment ${key}` };
}

/** Returns the members of each visible cluster by key. */
function shown(marks: readonly Mark<string>[], worldSize = WORLD_SIZE) {
  const clusters = createClusters(marks)({ edges: EDGES, worldSize });
  return Object.fromEntries(clusters.map(({ key, members }) => [key, members().toSorted().join(", ")]));
}

test("a new first mark keeps the keys of the other clusters", () => {
  const before = { a: "shipment a", b: "shipment b, shipment c", d: "shipment d, shipment e" };
  expect(shown(MARKS)).toEqual(before);
  expect(shown([mark("0", 40.6, -74.2), ...MARKS])).toEqual({ ...before, 0: "shipment 0" });
  expect(shown([mark("0", 40.73, -73.8), ...MARKS])).toEqual({
    ...before,
    a: "shipment 0, shipment a",
  });
});

test("a cluster splits at the world size that it requests, also if rounding reduced that size", () => {
  const parts = createClusters(MARKS);
  const inWorld = (worldSize: number) => parts({ edges: EDGES, worldSize }).map(({ count }) => count);
  expect(inWorld(WORLD_SIZE)).toEqual([2, 2, 1]);
  const [apart] = parts({ edges: EDGES, worldSize: WORLD_SIZE })
    .filter(({ key }) => key === "d")
    .map((cluster) => cluster.worldSize()!);
  expect(inWorld(apart!)).toEqual([2, 1, 1, 1]);
  expect(inWorld(apart! * (1 - 1e-14))).toEqual([2, 1, 1, 1]);
  expect(inWorld(apart! * 0.999)).toEqual([2, 2, 1]);
});

test("marks at one location never split, and single marks request no split", () => {
  const [pair, ...alone] = createClusters(MARKS)({ edges: EDGES, worldSize: 2 ** 27 });
  expect(pair!.members().toSorted()).toEqual(["shipment b", "shipment c"]);
  expect([pair!, ...alone].map(({ worldSize }) => worldSize())).toEqual(Array(4).fill(undefined));
});
