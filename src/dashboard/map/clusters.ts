import Supercluster from "supercluster";
import type { LatLng, WorldPart } from "./map-geometry.ts";

/** An item with a point on a map. */
export interface Mark<T> extends LatLng {
  /** Unique key among all marks, stable when marks are added. */
  readonly key: string;
  readonly of: T;
}

/** A group of marks too close to show separately, or a single mark. */
export interface Cluster<T> extends LatLng {
  /** Unique key within a part of the world: the key of its last mark, because new marks come first. */
  readonly key: string;
  readonly count: number;
  /** Returns its marks, by default up to `NAMED`. */
  members(limit?: number): readonly T[];
  /** Returns the side length of the world, in pixels, at which the marks separate. `undefined` if never. */
  worldSize(): number | undefined;
}

/** Minimum distance between separate marks, in pixels. */
const RADIUS = 44;
/** Maximum zoom, at which a pixel is half a meter. Marks still clustered there count as one point. */
const LAST_ZOOM = 17;
/** Side length of the world at zoom 0, in pixels. */
const WORLD = 512;
/** Maximum number of members that a cluster returns. */
const NAMED = 20;

/** Creates a function that clusters the marks in a part of the world. Largest clusters come first. */
export function createClusters<T>(marks: readonly Mark<T>[]): (part: WorldPart) => readonly Cluster<T>[] {
  const index = new Supercluster<{ readonly at: number }, { at: number }>({
    radius: RADIUS,
    extent: WORLD,
    maxZoom: LAST_ZOOM,
    reduce: (last, { at }) => void (last.at = Math.max(last.at, at)),
  });
  index.load(
    marks.map(({ lat, lng }, at) => ({
      type: "Feature",
      properties: { at },
      geometry: { type: "Point", coordinates: [lng, lat] },
    })),
  );
  const of = (at: number): T => marks[at]!.of;
  const sizeApart = (id: number) => {
    const zoom = index.getClusterExpansionZoom(id);
    return zoom > LAST_ZOOM ? undefined : WORLD * 2 ** zoom;
  };
  return ({ edges: [west, south, east, north], worldSize }) => {
    // Tolerance, because rounding can make the world slightly too small for a whole zoom.
    const zoom = Math.floor(Math.log2(worldSize / WORLD) + 1e-9);
    const found = index.getClusters([west, south, east, north], Math.min(zoom, LAST_ZOOM));
    return found
      .map(({ geometry, properties }): Cluster<T> => {
        const [lng, lat] = geometry.coordinates as [number, number];
        const { at } = properties;
        const { key } = marks[at]!;
        if (!("cluster_id" in properties)) {
          return { lat, lng, key, count: 1, members: () => [of(at)], worldSize: () => undefined };
        }
        const { cluster_id: id, point_count: count } = properties;
        const members = (limit = NAMED) => index.getLeaves(id, limit).map((leaf) => of(leaf.properties!.at));
        return { lat, lng, key, count, members, worldSize: () => sizeApart(id) };
      })
      .toSorted((one, other) => other.count - one.count);
  };
}
