import Supercluster from "supercluster";
import type { LatLng, WorldPart } from "./map-geometry.ts";

/** Something that has a place on a map. */
export interface Mark<T> extends LatLng {
  /** Names it among all marks, also when others have come. */
  readonly key: string;
  readonly of: T;
}

/** Marks that lie so near to each other that they are shown as one; of one alone, that. */
export interface Cluster<T> extends LatLng {
  /** Names it among those of a part of the world: the key of its last mark, for new ones come first. */
  readonly key: string;
  readonly count: number;
  /** What lies in it, or the first of that. */
  members(): readonly T[];
  /** How long the sides of the world have to be for it to fall apart, in pixels; undefined if it never does. */
  worldSize(): number | undefined;
}

/** How near marks may be to be told apart, in pixels. */
const RADIUS = 44;
/** The nearest zoom, where a pixel is half a metre: what is one mark there has one place. */
const LAST_ZOOM = 17;
/** The sides of the world at the first zoom, in pixels. */
const WORLD = 512;
/** How many members of a cluster are named. */
const NAMED = 20;

/** Builds the function that clusters marks for a part of the world, those of most marks first. */
export function createClusters<T>(
  marks: readonly Mark<T>[],
): (part: WorldPart) => readonly Cluster<T>[] {
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
    // A world that was scaled to a whole zoom may be a rounding error smaller.
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
        const members = () => index.getLeaves(id, NAMED).map((leaf) => of(leaf.properties!.at));
        return { lat, lng, key, count, members, worldSize: () => sizeApart(id) };
      })
      .toSorted((one, other) => other.count - one.count);
  };
}
