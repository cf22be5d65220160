import fc from "fast-check";
import { expect, test } from "vitest";
import {
  approachEdge,
  placeAt,
  startApproach,
} from "../../../src/domain/coverage/approach-edge.ts";

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const lat = fc.oneof(between(-90, 90), between(-90, -85), between(85, 90));
const share = between(0, 1);
const edge = fc.record({
  from: fc.tuple(between(-180, 0), lat),
  to: fc.tuple(between(0, 180), lat),
  length: fc.oneof(fc.constant(1), share),
});

test("an edge through the target is never ruled out, however close the best found so far", () => {
  fc.assert(
    fc.property(edge, share, ({ from, to, length }, along) => {
      const placeOn = (t: number) =>
        placeAt(from[0] + (to[0] - from[0]) * t, from[1] + (to[1] - from[1]) * t);
      const approach = startApproach(placeOn(along * length));
      approach.chord = approach.goal = 1e-6;
      approachEdge(approach, placeOn(0), placeOn(length));
      expect(approach.chord).toBeLessThan(1e-8);
    }),
    { numRuns: 20_000 },
  );
});

test("an edge no nearer than the best found so far changes nothing", () => {
  const approach = startApproach(placeAt(0, 0));
  approachEdge(approach, placeAt(1, -1), placeAt(1, 1));
  const found = { ...approach };
  approachEdge(approach, placeAt(-1, -1), placeAt(-1, 1));
  approachEdge(approach, placeAt(2, 50), placeAt(90, 50));
  expect(approach).toEqual(found);
  expect(approach.chord).toBeCloseTo(2 * Math.sin(Math.PI / 360), 12);
});
