import type { MultiPolygon, Polygon, Position } from "geojson";
import { linearRingContainsXY } from "ol/geom/flat/contains.js";

/** A longitude and latitude, in degrees. */
export type Corner = readonly [lng: number, lat: number];

/** A ring without its closing position. The first ring of each polygon is its outer ring, the others are holes. */
interface Ring {
  /** Number shared by the rings of one polygon. */
  readonly polygon: number;
  readonly corners: readonly Corner[];
}

/** The rings of a zone. */
export type Outline = readonly Ring[];

/** Address of a corner: the indices of its ring and of the corner in that ring. */
export interface CornerAddress {
  readonly ring: number;
  readonly index: number;
}

/** An outline, and the ring that is being drawn. */
interface OutlineStep {
  readonly outline: Outline;
  /** Index of the ring to which new corners are added. `undefined` if none is being drawn. */
  readonly drawn: number | undefined;
}

/** The state of an outline editor. */
export interface OutlineEdit extends OutlineStep {
  readonly past: readonly OutlineStep[];
  readonly future: readonly OutlineStep[];
  /** Whether the last change continues, so that the next move belongs to the same undo step. */
  readonly isMoving: boolean;
}

export type OutlineAction =
  /** Starts a new ring: a hole if its first corner is in the zone, otherwise another polygon. */
  | { readonly type: "draw" }
  /** Adds corners to the drawn ring, in one undo step. */
  | { readonly type: "add"; readonly corners: readonly Corner[] }
  | { readonly type: "finish" }
  /** Inserts a corner that then can be moved in the same undo step. */
  | ({ readonly type: "insert" | "move"; readonly corner: Corner } & CornerAddress)
  | ({ readonly type: "remove" } & CornerAddress)
  /** Completes a move. */
  | { readonly type: "drop" }
  | { readonly type: "undo" }
  | { readonly type: "redo" };

/** Minimum number of corners of a ring. */
export const MIN_CORNERS = 3;
/** Maximum number of steps that can be undone. */
const MAX_STEPS = 200;

/** Starts editing an outline. An empty outline is drawn first. */
export function editOf(outline: Outline): OutlineEdit {
  return { outline, past: [], future: [], drawn: outline.length === 0 ? 0 : undefined, isMoving: false };
}

export function reduceOutline(edit: OutlineEdit, action: OutlineAction): OutlineEdit {
  const { outline, past, future, drawn } = edit;
  switch (action.type) {
    case "draw":
      return { ...edit, drawn: outline.length };
    case "finish":
      return { ...edit, drawn: undefined };
    case "add":
      return add(edit, action.corners);
    case "insert":
      return { ...changed(edit, withCorners(outline, action, 0, action.corner)), isMoving: true };
    case "move": {
      // The corner may have been removed during the move.
      if (outline[action.ring]?.corners[action.index] === undefined) return edit;
      const moved = withCorners(outline, action, 1, action.corner);
      return edit.isMoving ? { ...edit, outline: moved } : { ...changed(edit, moved), isMoving: true };
    }
    case "drop":
      return { ...edit, isMoving: false };
    case "remove":
      return remove(edit, action);
    case "undo":
      if (past.length === 0) return edit;
      return { ...past.at(-1)!, past: past.slice(0, -1), future: [{ outline, drawn }, ...future], isMoving: false };
    case "redo":
      if (future.length === 0) return edit;
      return { ...future[0]!, past: [...past, { outline, drawn }], future: future.slice(1), isMoving: false };
  }
}

function changed(edit: OutlineEdit, outline: Outline): OutlineEdit {
  const { outline: before, drawn } = edit;
  return {
    ...edit,
    outline,
    past: [...edit.past, { outline: before, drawn }].slice(-MAX_STEPS),
    future: [],
    isMoving: false,
  };
}

function add(edit: OutlineEdit, corners: readonly Corner[]): OutlineEdit {
  const { outline, drawn = outline.length } = edit;
  const ring = outline[drawn];
  if (ring) return changed(edit, outline.with(drawn, { ...ring, corners: [...ring.corners, ...corners] }));
  const next = Math.max(-1, ...outline.map(({ polygon }) => polygon)) + 1;
  const polygon = outerRingAround(outline, corners[0]!)?.polygon ?? next;
  return { ...changed(edit, [...outline, { polygon, corners }]), drawn: outline.length };
}

function outerRingAround(outline: Outline, [lng, lat]: Corner): Ring | undefined {
  return outline.find((ring, i) => {
    const flat = ring.corners.flat();
    return isOuter(outline, i) && linearRingContainsXY(flat, 0, flat.length, 2, lng, lat);
  });
}

/** Whether a ring is the outer ring of its polygon. */
export function isOuter(outline: Outline, ring: number): boolean {
  return outline.findIndex(({ polygon }) => polygon === outline[ring]!.polygon) === ring;
}

/** Removes a corner, or its whole ring if too few corners remain. The only ring of a zone is then drawn again. */
function remove(edit: OutlineEdit, corner: CornerAddress): OutlineEdit {
  const { outline, drawn } = edit;
  const { polygon, corners } = outline[corner.ring]!;
  const others = isOuter(outline, corner.ring)
    ? outline.filter((ring) => ring.polygon !== polygon)
    : outline.toSpliced(corner.ring, 1);
  const isKept = corners.length > MIN_CORNERS || (drawn === corner.ring && corners.length > 1);
  if (isKept) return changed(edit, withCorners(outline, corner, 1));
  return { ...changed(edit, others), drawn: others.length === 0 ? 0 : undefined };
}

/** Replaces a number of corners, starting at an address, with other corners. */
function withCorners(outline: Outline, { ring, index }: CornerAddress, count: number, ...by: Corner[]): Outline {
  const { corners } = outline[ring]!;
  return outline.with(ring, { ...outline[ring]!, corners: corners.toSpliced(index, count, ...by) });
}

/** Returns the outline of a GeoJSON geometry, without altitudes. */
export function outlineOf(geometry: Polygon | MultiPolygon): Outline {
  const polygons = geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;
  return polygons.flatMap((rings, polygon) => rings.map((ring) => ({ polygon, corners: openRing(ring) })));
}

function openRing(ring: readonly Position[]): readonly Corner[] {
  const corners = ring.map(([lng, lat]) => [lng!, lat!] as const);
  return String(corners[0]) === String(corners.at(-1)) ? corners.slice(0, -1) : corners;
}

/**
 * Converts an outline to a GeoJSON geometry, without rings that have too few corners.
 *
 * @param minCorners minimum number of corners of a ring
 */
export function geometryOf(outline: Outline, minCorners = MIN_CORNERS): Polygon | MultiPolygon {
  const polygons = [...Map.groupBy(outline, ({ polygon }) => polygon).values()]
    .filter(([outer]) => outer!.corners.length >= minCorners)
    .map((rings) => rings.filter(({ corners }) => corners.length >= minCorners).map(closedRing));
  return polygons.length === 1
    ? { type: "Polygon", coordinates: polygons[0]! }
    : { type: "MultiPolygon", coordinates: polygons };
}

function closedRing({ corners }: Ring): Position[] {
  return [...corners, corners[0]!].map((corner) => [...corner]);
}
