import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { polygonError } from "../../../src/domain/coverage/polygon-error.ts";

type Corner = readonly [number, number];

/** Parses a text such as "0,0 4,0 4,4" into a closed ring. */
function ring(text: string): number[][] {
  const corners = text.split(" ").map((pair) => pair.split(",").map(Number));
  return [...corners, corners[0]!];
}

const SQUARE = "0,0 10,0 10,10 0,10";

describe("polygonError accepts", () => {
  test.each([
    ["a square", [SQUARE]],
    ["a square drawn clockwise", ["0,0 0,10 10,10 10,0"]],
    ["a corner in the middle of a straight side", ["0,0 5,0 10,0 10,10 0,10"]],
    ["consecutive equal positions", ["0,0 0,0 10,0 10,10 10,10 10,10 0,10 0,0"]],
    ["a hole", [SQUARE, "2,2 4,2 4,4 2,4"]],
    ["two holes", [SQUARE, "2,2 4,2 4,4 2,4", "6,6 8,6 8,8 6,8"]],
    ["a hole that touches a side with a corner", [SQUARE, "0,5 3,3 3,7"]],
    ["a hole that touches a corner with a corner", [SQUARE, "0,0 3,1 1,3"]],
    ["a hole that touches two sides", [SQUARE, "0,5 5,0 6,6"]],
    ["a hole whose side an outer corner touches", ["0,0 5,2 10,0 10,10 0,10", "2,2 8,2 5,8"]],
    ["holes that touch in a corner", [SQUARE, "2,2 4,2 4,4 2,4", "4,4 6,4 6,6 4,6"]],
    ["holes that touch, corner to side", [SQUARE, "2,2 4,2 4,8 2,8", "4,5 6,4 6,6"]],
    ["a hole that touches at a reflex corner", ["0,0 10,0 10,10 5,5 0,10", "5,5 3,2 7,2"]],
    ["a hole in a clockwise ring, touching", ["0,0 0,10 10,10 10,0", "0,5 3,3 3,7"]],
    ["three holes through one point", [SQUARE, "5,5 6,2 7,3", "5,5 7,6 7,8", "5,5 2,6 3,4"]],
  ])("%s", (_, rings) => {
    expect(polygonError(rings.map(ring))).toBeUndefined();
  });
});

const THREE = "has fewer than three different positions; give it at least three corners";
const crosses = (point: string) =>
  `crosses itself near [${point}]; redraw it so that its edges meet only at their ends`;
const runsBack = (point: string) => `runs back over itself near [${point}]; remove the doubled stretch`;
const touches = (point: string) => `touches itself at [${point}]; split it there into two rings`;
const reaches = (point: string) => `hole 1 reaches outside the outer ring at or near [${point}]; keep it inside`;
const sharesOuter = (point: string) =>
  `hole 1 shares an edge with the outer ring near [${point}]; cut it out of the outer ring instead`;
const OUTSIDE = "hole 1 lies outside the outer ring; draw it as a separate polygon or remove it";
const overlaps = (point: string) => `hole 2 overlaps hole 1 at or near [${point}]; merge the two into one hole`;
const ISLAND = "draw an island as a separate polygon, or remove it";

const AROUND = "2,2 8,2 8,8 2,8";

describe("polygonError refuses", () => {
  test.each([
    ["a point", ["1,1 1,1 1,1"], `the outer ring ${THREE}`],
    ["a line there and back", ["0,0 5,5"], `the outer ring ${THREE}`],
    ["a bow tie", ["0,0 10,10 10,0 0,10"], `the outer ring ${crosses("5, 5")}`],
    ["a flat triangle", ["0,0 5,0 9,0"], `the outer ring ${runsBack("9, 0")}`],
    ["a spike", ["0,0 10,0 10,10 5,10 5,15 5,12 0,10"], `the outer ring ${runsBack("5, 15")}`],
    ["a corner on a side", ["0,0 10,0 10,10 5,0 0,10"], `the outer ring ${touches("5, 0")}`],
    ["a figure of eight", ["0,0 5,5 10,0 10,10 5,5 0,10"], `the outer ring ${touches("5, 5")}`],
    ["a crossed hole", [SQUARE, "2,2 4,4 4,2 2,4"], `hole 1 ${crosses("3, 3")}`],
    ["a collapsed hole", [SQUARE, "2,2 4,4"], `hole 1 ${THREE}`],
    ["a hole across a side", [SQUARE, "5,5 15,5 15,6 5,6"], reaches("10, 6")],
    ["a hole through corners on a side", [SQUARE, "8,5 10,4 12,5 10,6"], reaches("10, 4")],
    ["a hole over a notch", ["0,0 10,0 10,10 5,1 0,10", "0,10 5,6 10,10 5,12"], reaches("10, 10")],
    ["a hole that touches from outside", [SQUARE, "10,5 12,4 12,6"], reaches("10, 5")],
    ["a hole that shares a side", [SQUARE, "0,2 3,2 3,4 0,4"], sharesOuter("0, 4")],
    ["a hole that is the outer ring", [SQUARE, SQUARE], sharesOuter("10, 0")],
    ["a hole outside", [SQUARE, "20,2 22,2 22,4"], OUTSIDE],
    ["a hole around the outer ring", [SQUARE, "-5,-5 15,-5 15,15 -5,15"], OUTSIDE],
    ["holes that cross", [SQUARE, "2,2 6,2 6,4 2,4", "3,1 5,1 5,5 3,5"], overlaps("5, 4")],
    [
      "holes that share a side",
      [SQUARE, "2,2 4,2 4,4 2,4", "4,2 6,2 6,4 4,4"],
      "hole 2 shares an edge with hole 1 near [4, 4]; merge the two into one hole",
    ],
    ["a hole in a hole", [SQUARE, AROUND, "4,4 5,4 5,5"], `hole 2 lies inside hole 1; ${ISLAND}`],
    ["a hole around another hole", [SQUARE, "4,4 5,4 5,5", AROUND], `hole 1 lies inside hole 2; ${ISLAND}`],
    ["a hole in a hole, touching it", [SQUARE, AROUND, "2,5 4,4 4,6"], overlaps("2, 5")],
    ["a hole around another hole, touching it", [SQUARE, "2,5 4,4 4,6", AROUND], overlaps("2, 5")],
  ])("%s", (_, rings, expected) => {
    expect(polygonError(rings.map(ring))).toBe(expected);
  });
});

test("polygonError detects a crossing in the last digit of a double", () => {
  const [a, hair] = [0.1, 0.1 + 2 ** -56];
  const notched = (y: number) => [
    [0, 0],
    [1, 0],
    [1, 1],
    [0.5, y],
    [0, 1],
    [0, a],
    [0.5, a],
    [0, 0],
  ];
  expect(polygonError([notched(hair)])).toBeUndefined();
  expect(polygonError([notched(a)])).toMatch("touches itself");
  expect(polygonError([notched(0.1 - 2 ** -56)])).toMatch("crosses itself");
});

test("polygonError compares few edges per position in a ring of 100,000 positions with 1,000 holes", () => {
  const count = 100_000;
  const outer = Array.from({ length: count }, (_, i) => {
    const angle = (i / count) * 2 * Math.PI;
    const radius = 30 + Math.sin(angle * 500);
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
  const holes = Array.from({ length: 1000 }, (_, i) =>
    ring(`${i % 20},${i / 100} ${(i % 20) + 0.5},${i / 100} ${i % 20},${i / 100 + 0.05}`),
  );
  const visits = { left: 20 * count };
  expect(polygonError([[...outer, outer[0]!], ...holes], visits)).toBeUndefined();
});

describe("polygonError with long parallel diagonals", () => {
  const count = 2000;
  const zigzag = Array.from({ length: count }, (_, i) => {
    const lng = (i / count) * 10;
    return i % 2 === 0 ? [lng, 0] : [lng + 60, 60];
  });
  const polygon = [[[-10, -5], ...zigzag, [80, -5], [-10, -5]]];

  test("accepts a few thousand", () => {
    expect(polygonError(polygon)).toBeUndefined();
  });

  test("refuses more edges than it can compare, across several polygons", () => {
    const visits = { left: 6_000_000 };
    const errors = [polygon, polygon].map((it) => polygonError(it, visits));
    expect(errors).toEqual([
      undefined,
      "here and in earlier zones, there are too many long parallel edges to check; " +
        "simplify them or split their polygons into smaller ones",
    ]);
  });
});

describe("polygonError agrees with comparing every pair of edges", () => {
  const grid = fc.integer({ min: 0, max: 8 });
  const corner = fc.tuple(grid, grid);
  const loop = (most: number) =>
    fc.array(corner, { minLength: 3, maxLength: most }).map((corners) => [...corners, corners[0]!]);

  const rim = fc.constantFrom(0, 1, 7, 8);
  const wideLoop = fc
    .array(fc.tuple(rim, rim), { minLength: 3, maxLength: 4 })
    .map((corners) => [...corners, corners[0]!]);

  test.each([
    ["a ring", fc.tuple(loop(7))],
    ["a triangle or four-sided figure with a hole", fc.tuple(wideLoop, loop(3))],
    ["the whole grid with two holes", fc.tuple(fc.constant(ring("0,0 8,0 8,8 0,8")), loop(4), loop(3))],
    ["a notched ring with a hole", fc.tuple(fc.constant(ring("0,0 8,0 8,8 4,2 0,8")), loop(4))],
  ])("%s", (_, polygons) => {
    const verdicts = { valid: 0, faulty: 0 };
    fc.assert(
      fc.property(polygons as fc.Arbitrary<Corner[][]>, (rings) => {
        const valid = isValid(rings);
        verdicts[valid ? "valid" : "faulty"]++;
        expect(polygonError(rings) === undefined).toBe(valid);
      }),
      { numRuns: 5_000 },
    );
    // The comparison is only meaningful if both verdicts are frequent.
    expect(Math.min(verdicts.valid, verdicts.faulty)).toBeGreaterThan(50);
  });
});

type Segment = readonly [Corner, Corner];

function isValid(rings: Corner[][]): boolean {
  const loops = rings.map(segmentsOf);
  return (
    loops.every((loop) => loop.length >= 3 && isSimple(loop)) &&
    loops.every((loop, i) => loops.every((other, j) => i >= j || areCompatible(loop, other, i === 0)))
  );
}

function segmentsOf(corners: Corner[]): Segment[] {
  const distinct = corners.slice(1).filter((c, i) => `${c}` !== `${corners[i]}`);
  return distinct.map((c, i) => [c, distinct[(i + 1) % distinct.length]!]);
}

function isSimple(loop: Segment[]): boolean {
  return loop.every((s, i) =>
    loop.every((t, j) => {
      if (i >= j) return true;
      const { points, overlap } = common(s, t);
      const adjacent = j === i + 1 || (i === 0 && j === loop.length - 1);
      return !overlap && (adjacent || points.length === 0);
    }),
  );
}

/**
 * Whether two rings are compatible: splits each edge where it meets the other ring, and checks where
 * each part's midpoint is.
 */
function areCompatible(a: Segment[], b: Segment[], within: boolean): boolean {
  for (const s of a) for (const t of b) if (common(s, t).overlap) return false;
  return (
    middles(b, a).every((middle) => holds(a, middle) === within) && middles(a, b).every((middle) => !holds(b, middle))
  );
}

function middles(loop: Segment[], other: Segment[]): Corner[] {
  return loop.flatMap((s) => {
    const cuts = [0, 1, ...other.flatMap((t) => common(s, t).points)].sort((x, y) => x - y);
    return cuts.slice(1).flatMap((cut, i) => {
      if (cut - cuts[i]! < 1e-9) return [];
      const t = (cut + cuts[i]!) / 2;
      return [[s[0][0] + t * (s[1][0] - s[0][0]), s[0][1] + t * (s[1][1] - s[0][1])] as Corner];
    });
  });
}

/** Returns where s meets t, as fractions of s from 0 to 1. Exact for integer coordinates. */
function common([a, b]: Segment, [c, d]: Segment): { points: number[]; overlap: boolean } {
  const [rx, ry, sx, sy] = [b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]];
  const [qx, qy] = [c[0] - a[0], c[1] - a[1]];
  const determinant = rx * sy - ry * sx;
  if (determinant !== 0) {
    const whole = Math.abs(determinant);
    const t = (qx * sy - qy * sx) * Math.sign(determinant);
    const u = (qx * ry - qy * rx) * Math.sign(determinant);
    const meets = t >= 0 && t <= whole && u >= 0 && u <= whole;
    return { points: meets ? [t / whole] : [], overlap: false };
  }
  if (qx * ry - qy * rx !== 0) return { points: [], overlap: false };
  const ends = [qx * rx + qy * ry, (d[0] - a[0]) * rx + (d[1] - a[1]) * ry];
  const from = Math.max(0, Math.min(...ends));
  const to = Math.min(rx * rx + ry * ry, Math.max(...ends));
  if (from > to) return { points: [], overlap: false };
  return { points: [from / (rx * rx + ry * ry)], overlap: from < to };
}

function holds(loop: Segment[], [x, y]: Corner): boolean {
  return (
    loop.filter(([a, b]) => a[1] > y !== b[1] > y && x < a[0] + ((y - a[1]) * (b[0] - a[0])) / (b[1] - a[1])).length %
      2 ===
    1
  );
}
