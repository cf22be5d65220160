import { expect, test } from "vitest";
import { areaKm2 } from "../../src/dashboard/map/area.ts";
import { cornersBetween, nearestOnBorders } from "../../src/dashboard/map/borders.ts";
import {
  type Corner,
  editOf,
  geometryOf,
  type OutlineAction,
  outlineOf,
  type OutlineEdit,
  reduceOutline,
} from "../../src/dashboard/map/outline.ts";
import { ring, square } from "../support/tariffs.ts";

const run = (edit: OutlineEdit, ...actions: readonly OutlineAction[]) => actions.reduce(reduceOutline, edit);
const add = (text: string): OutlineAction => ({ type: "add", corners: ring(text) });
const ringsOf = ({ outline }: OutlineEdit) => outline.map(({ corners }) => corners.map(String).join(" "));
const squareEdit = () => editOf(outlineOf({ type: "Polygon", coordinates: square(0, 0, 4, 4) }));
const SQUARE = "0,0 4,0 4,4 0,4";

test("a zone is drawn corner by corner, with a hole and a second polygon, and becomes GeoJSON", () => {
  const drawn = run(editOf([]), add("0 0"), add("4 0, 4 4"), add("0 4"), { type: "finish" }, add("9 9"), add("9 8"));
  expect(geometryOf(drawn.outline)).toEqual({ type: "Polygon", coordinates: square(0, 0, 4, 4) });
  const holed = run(squareEdit(), { type: "draw" }, add("1 1, 2 1, 2 2"), { type: "draw" }, add("6 6, 7 6, 7 7"));
  const geometry = geometryOf(holed.outline);
  expect(geometry).toEqual({
    type: "MultiPolygon",
    coordinates: [[...square(0, 0, 4, 4), ring("1 1, 2 1, 2 2, 1 1")], [ring("6 6, 7 6, 7 7, 6 6")]],
  });
  expect(geometryOf(outlineOf(geometry))).toEqual(geometry);
});

test("each change is one step to undo and redo, however many moves it had", () => {
  const moves = [1, 2, 3].map((x) => ({ type: "move", ring: 0, index: 1, corner: [4 + x, 0] }) as const);
  const inserted = { type: "insert", ring: 0, index: 1, corner: [2, 0] } as const;
  const edit = run(squareEdit(), inserted, ...moves, { type: "drop" }, ...moves, { type: "drop" });
  expect(edit.past).toHaveLength(2);
  const removed = run(edit, { type: "remove", ring: 0, index: 2 });
  expect(ringsOf(removed)).toEqual(["0,0 7,0 4,4 0,4"]);
  const undone = run(removed, { type: "undo" }, { type: "undo" }, { type: "undo" }, { type: "undo" });
  expect(ringsOf(undone)).toEqual([SQUARE]);
  expect(run(undone, { type: "redo" }, { type: "redo" }, { type: "redo" }, { type: "redo" })).toEqual(removed);
  expect(run(undone, ...moves).future).toEqual([]);
});

test("a ring with too few corners is removed, with its holes, and the last ring is drawn again", () => {
  const holed = run(squareEdit(), { type: "draw" }, add("1 1, 2 1, 2 2"), { type: "finish" });
  const withoutHole = run(holed, { type: "remove", ring: 1, index: 0 });
  expect(ringsOf(withoutHole)).toEqual([SQUARE]);
  expect(withoutHole.drawn).toBe(undefined);
  const corner = { type: "remove", ring: 0, index: 0 } as const;
  const emptied = run(holed, corner, corner);
  expect({ rings: ringsOf(emptied), drawn: emptied.drawn }).toEqual({ rings: [], drawn: 0 });
  expect(ringsOf(run(emptied, add("5 5")))).toEqual(["5,5"]);
  const halfDrawn = run(editOf([]), add("0 0, 1 0"), { type: "remove", ring: 0, index: 1 });
  expect(ringsOf(halfDrawn)).toEqual(["0,0"]);
});

test("undo and redo restore which ring is drawn, and a move of a removed corner changes nothing", () => {
  const triangle = run(editOf([]), add("0 0, 4 0, 4 4"), { type: "finish" });
  const removed = run(triangle, { type: "remove", ring: 0, index: 0 });
  expect(removed.drawn).toBe(0);
  expect(run(removed, { type: "undo" }).drawn).toBe(undefined);
  expect(run(removed, { type: "undo" }, { type: "redo" }).drawn).toBe(0);
  const move = { type: "move", ring: 0, index: 2, corner: [9, 9] } as const;
  expect(run(removed, move)).toEqual(removed);
});

const BORDER: readonly Corner[] = ring("0 0, 4 0, 4 4, 0 4");

test.each([
  ["a corner before a nearer edge", [3.95, 0.01], [4, 0], 1],
  ["the nearest point of an edge", [1, 0.05], [1, 0], 0.25],
  ["the edge back to the first corner", [0.05, 3], [0, 3], 3.25],
])("a point snaps to %s", (_, point, corner, at) => {
  const found = nearestOnBorders(point as [number, number], [BORDER], 0.1)!;
  expect({ corner: found.corner.map((it) => Number(it.toFixed(6))), at: Number(found.at.toFixed(4)) }).toEqual({
    corner,
    at,
  });
  expect(nearestOnBorders(point as [number, number], [BORDER], 0.001)).toBe(undefined);
});

test("degrees of longitude count less far from the equator", () => {
  const northern = BORDER.map(([lng, lat]) => [lng, lat + 60] as const);
  expect(nearestOnBorders([-0.15, 62], [northern], 0.1)?.corner[0]).toBeCloseTo(0, 9);
  expect(nearestOnBorders([-0.25, 62], [northern], 0.1)).toBe(undefined);
});

test("the corners between two points of a border follow it the shorter way", () => {
  const at = (lng: number, lat: number) => nearestOnBorders([lng, lat], [BORDER], 1e-9)!;
  expect(cornersBetween(at(3, 0), at(4, 1))).toEqual([[4, 0]]);
  expect(cornersBetween(at(4, 1), at(3, 0))).toEqual([[4, 0]]);
  expect(cornersBetween(at(0, 1), at(4, 0))).toEqual([[0, 0]]);
  expect(cornersBetween(at(1, 0), at(3, 0))).toEqual([]);
  expect(cornersBetween(at(1, 0), nearestOnBorders([4, 4], [[...BORDER]], 1e-9)!)).toEqual([]);
});

test("the area does not depend on the direction of the rings, and holes do not count", () => {
  const polygon = (...coordinates: [number, number][][]) => areaKm2({ type: "Polygon", coordinates });
  const [outer] = square(0, 0, 1, 1);
  const degree = polygon(outer!);
  expect(degree).toBeCloseTo(12_364, 0);
  expect(polygon(outer!.toReversed())).toBeCloseTo(degree, 6);
  const [hole] = square(0.25, 0.25, 0.75, 0.75);
  expect(polygon(outer!, hole!) / degree).toBeCloseTo(0.75, 3);
});
