import type OlMap from "ol/Map.js";
import { fromLonLat, toLonLat } from "ol/proj.js";
import type { LatLng, Spot, WorldPart } from "./map-geometry.ts";
import { scaleBar } from "./scale-bar.ts";
import { nearestTo, WORLD } from "./world.ts";

/** How near to an edge of the map what is to be seen may lie, in pixels. */
const EDGE = 24;
/** How long the scale may be, in pixels. */
const MAX_SCALE = 100;

const latAt = (y: number) => toLonLat([0, y])[1]!;

export const coordinateOf = ({ lat, lng }: LatLng) => fromLonLat([lng, lat]);

/** How a map is moved and scaled, and where its places are. */
export function createCamera(map: OlMap) {
  const view = map.getView();
  const size = () => (map.getSize() ?? [0, 0]) as [width: number, height: number];
  const middle = (): Spot => [size()[0] / 2, size()[1] / 2];
  const at = () => [...view.getCenter()!, view.getResolution()!] as [number, number, number];
  const spotOf = (place: LatLng): Spot => {
    const [[x, y, resolution], [left, top]] = [at(), middle()];
    const [along, up] = nearestTo([x, y], coordinateOf(place));
    return [(along - x) / resolution + left, (y - up) / resolution + top];
  };
  const coordinateAt = ([left, top]: Spot): [number, number] => {
    const [[x, y, resolution], [middleX, middleY]] = [at(), middle()];
    return [x + (left - middleX) * resolution, y - (top - middleY) * resolution];
  };
  const pan = (dx: number, dy: number) => {
    const [x, y, resolution] = at();
    view.setCenter([x - dx * resolution, y + dy * resolution]);
  };
  return {
    size,
    middle,
    at,
    spotOf,
    coordinateAt,
    /** Moves what is shown, in pixels. */
    pan,
    /** Makes everything larger by a factor, around the middle. */
    zoom: (factor: number) => view.adjustResolution(1 / factor),
    /** Moves a place into view that is not. */
    reveal(place: LatLng): void {
      const [[x, y], [width, height]] = [spotOf(place), size()];
      pan(wayInto(x, width), wayInto(y, height));
    },
    /** Brings a place to the middle, in a world whose sides are so long, in pixels. */
    bringNear(place: LatLng, worldSize: number): void {
      view.setResolution(WORLD / worldSize);
      view.setCenter(nearestTo(at(), coordinateOf(place)));
    },
    /** The place at a spot; undefined outside of the world. */
    placeAt(spot: Spot): LatLng | undefined {
      const coordinate = coordinateAt(spot);
      if (Math.abs(coordinate[1]) > WORLD / 2) return undefined;
      const [lng, lat] = toLonLat(coordinate);
      return { lat: lat!, lng: lng! };
    },
    /** What of the world is in view. */
    part(): WorldPart {
      const [west, south, east, north] = view.calculateExtent(size());
      const [left, right] = [(west! / WORLD) * 360, (east! / WORLD) * 360];
      return { edges: [left, latAt(south!), right, latAt(north!)], worldSize: WORLD / at()[2] };
    },
    /** As it is in the middle of the map: Mercator's differs by latitude. */
    scale() {
      const [, y, resolution] = at();
      return scaleBar(resolution * Math.cos((latAt(y) * Math.PI) / 180), MAX_SCALE);
    },
  };
}

/** How far a coordinate has to go to be away from the edges. */
function wayInto(coordinate: number, length: number): number {
  return Math.max(0, EDGE - coordinate) - Math.max(0, coordinate - (length - EDGE));
}
