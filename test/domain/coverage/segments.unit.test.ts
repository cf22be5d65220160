import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { liesOn, meetingOf, sideOf, sideOfPath, type Corner } from "../../../src/domain/coverage/segments.ts";

test("sideOf distinguishes left, right and on the line exactly", () => {
  expect(sideOf([0, 0], [1, 0], [5, 1])).toBe(1);
  expect(sideOf([0, 0], [1, 0], [5, -1])).toBe(-1);
  expect(Math.abs(sideOf([0, 0], [1, 0], [5, 0]))).toBe(0);
  // A point so close to the diagonal that plain arithmetic returns 0.
  expect(sideOf([0.5, 0.5], [12, 12], [24, 24.000000000000004])).toBe(1);
});

describe("meetingOf", () => {
  test.each<[string, Corner, Corner, Corner, Corner, ReturnType<typeof meetingOf>]>([
    ["a crossing", [0, 0], [2, 2], [0, 2], [2, 0], "cross"],
    ["apart", [0, 0], [1, 1], [5, 5], [6, 5], undefined],
    ["parallels", [0, 0], [2, 0], [0, 1], [2, 1], undefined],
    ["lines that cross beyond one segment", [0, 0], [4, 0], [5, 1], [5, -1], undefined],
    ["lines that cross beyond the other segment", [5, 1], [5, -1], [0, 0], [4, 0], undefined],
    ["a shared end", [0, 0], [1, 1], [1, 1], [2, 0], [1, 1]],
    ["an end of the second on the first", [0, 0], [4, 0], [2, 0], [2, 3], [2, 0]],
    ["the other end of the second on the first", [0, 0], [4, 0], [2, 3], [2, 0], [2, 0]],
    ["an end of the first on the second", [2, 0], [2, 3], [0, 0], [4, 0], [2, 0]],
    ["the other end of the first on the second", [2, 3], [2, 0], [0, 0], [4, 0], [2, 0]],
    ["an overlap", [0, 0], [2, 0], [1, 0], [3, 0], "overlap"],
    ["one segment within the other, in the opposite direction", [0, 0], [4, 4], [3, 3], [1, 1], "overlap"],
    ["the same upright segment", [1, 0], [1, 5], [1, 5], [1, 0], "overlap"],
    ["segments of one line with a shared end", [0, 0], [1, 0], [2, 0], [1, 0], [1, 0]],
    ["segments of one line with a gap", [0, 0], [1, 0], [2, 0], [3, 0], undefined],
  ])("%s", (_, a, b, c, d, expected) => {
    expect(meetingOf(a, b, c, d)).toEqual(expected);
  });

  test("agrees with solving for the intersection on integer coordinates", () => {
    const corner = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }));
    fc.assert(
      fc.property(corner, corner, corner, corner, (a, b, c, d) => {
        fc.pre(`${a}` !== `${b}` && `${c}` !== `${d}`);
        expect(kindOf(meetingOf(a, b, c, d))).toBe(solve(a, b, c, d));
      }),
      { numRuns: 5_000 },
    );
  });
});

function kindOf(meeting: ReturnType<typeof meetingOf>): string {
  return meeting === undefined ? "apart" : typeof meeting === "string" ? meeting : "touch";
}

/** Solves a + t (b − a) = c + u (d − c) and returns t and u as fractions of the determinant. */
function solve(a: Corner, b: Corner, c: Corner, d: Corner): string {
  const [rx, ry, sx, sy] = [b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]];
  const [qx, qy] = [c[0] - a[0], c[1] - a[1]];
  const determinant = rx * sy - ry * sx;
  if (determinant === 0) {
    if (qx * ry - qy * rx !== 0) return "apart";
    const from = qx * rx + qy * ry;
    const to = from + sx * rx + sy * ry;
    const length = Math.min(Math.max(from, to), rx * rx + ry * ry) - Math.max(Math.min(from, to), 0);
    return length > 0 ? "overlap" : length === 0 ? "touch" : "apart";
  }
  const sign = Math.sign(determinant);
  const t = (qx * sy - qy * sx) * sign;
  const u = (qx * ry - qy * rx) * sign;
  const whole = Math.abs(determinant);
  if (t < 0 || t > whole || u < 0 || u > whole) return "apart";
  return t > 0 && t < whole && u > 0 && u < whole ? "cross" : "touch";
}

test("liesOn includes the ends and excludes the line beyond them", () => {
  expect(liesOn([1, 1], [0, 0], [2, 2])).toBe(true);
  expect(liesOn([2, 2], [0, 0], [2, 2])).toBe(true);
  expect(liesOn([3, 3], [0, 0], [2, 2])).toBe(false);
  expect(liesOn([1, 0], [0, 0], [2, 2])).toBe(false);
});

describe("sideOfPath", () => {
  const [east, north, west, south]: Corner[] = [
    [1, 0],
    [0, 1],
    [-1, 0],
    [0, -1],
  ];
  test.each([
    ["a left turn has the small angle on its left", west, north, [-1, 1], 1],
    ["a left turn leaves the rest on its right", west, north, [1, -1], -1],
    ["a right turn has the large angle on its left", west, south, [1, 1], 1],
    ["a right turn leaves the small angle on its right", west, south, [-1, -1], -1],
    ["a straight path has half the plane on its left", west, east, [1, 1], 1],
    ["a straight path has half the plane on its right", west, east, [1, -1], -1],
    ["along the way back", west, north, [-7, 0], 0],
    ["along the way on", west, north, [0, 7], 0],
    ["opposite the way back", west, north, [7, 0], -1],
    ["opposite the way on, from a right turn", west, south, [0, 7], 1],
  ] as [string, Corner, Corner, Corner, number][])("%s", (_, before, after, corner, expected) => {
    expect(sideOfPath(before, [0, 0], after, corner)).toBe(expected);
  });
});
