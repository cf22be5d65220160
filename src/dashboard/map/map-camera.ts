import type OlMap from "ol/Map.js";
import { fromLonLat, toLonLat } from "ol/proj.js";
import type { LatLng, Spot, WorldPart } from "./map-geometry.ts";
import { scaleBar } from "./scale-bar.ts";
import { nearestTo, WORLD } from "./world.ts";

/** Minimum distance between displayed contents and the map's edge, in pixels. */
const EDGE = 24;
/** Maximum length of the scale bar, in pixels. */
const MAX_SCALE = 100;

const latAt = (y: number) => toLonLat([0, y])[1]!;

export const coordinateOf = ({ lat, lng }: LatLng) => fromLonLat([lng, lat]);

/** Creates the camera of a map, which controls its position and scale and converts points. */
export function createCamera(map: OlMap) {
  const view = map.getView();
  const size = () => (map.getSize() ?? [0, 0]) as [width: number, height: number];
  const middle = (): Spot => [size()[0] / 2, size()[1] / 2];
  const at = () => [...view.getCenter()!, view.getResolution()!] as [number, number, number];
  const spotOf = (point: LatLng): Spot => {
    const [[x, y, resolution], [left, top]] = [at(), middle()];
    const [along, up] = nearestTo([x, y], coordinateOf(point));
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
    /** Pans by a distance, in pixels. */
    pan,
    /** Zooms by a factor around the center. */
    zoom: (factor: number) => view.adjustResolution(1 / factor),
    /** Pans until a point is in view. */
    reveal(point: LatLng): void {
      const [[x, y], [width, height]] = [spotOf(point), size()];
      pan(wayInto(x, width), wayInto(y, height));
    },
    /** Centers a point and sets the scale, given as the side length of the world in pixels. */
    bringNear(point: LatLng, worldSize: number): void {
      view.setResolution(WORLD / worldSize);
      view.setCenter(nearestTo(at(), coordinateOf(point)));
    },
    /** Returns the point at a spot, or `undefined` outside the world. */
    latLngAt(spot: Spot): LatLng | undefined {
      const coordinate = coordinateAt(spot);
      if (Math.abs(coordinate[1]) > WORLD / 2) return undefined;
      const [lng, lat] = toLonLat(coordinate);
      return { lat: lat!, lng: lng! };
    },
    /** Returns the part of the world in view. */
    part(): WorldPart {
      const [west, south, east, north] = view.calculateExtent(size());
      const [left, right] = [(west! / WORLD) * 360, (east! / WORLD) * 360];
      return { edges: [left, latAt(south!), right, latAt(north!)], worldSize: WORLD / at()[2] };
    },
    /** Returns the scale bar for the map's center, because Mercator's scale varies with latitude. */
    scale() {
      const [, y, resolution] = at();
      return scaleBar(resolution * Math.cos((latAt(y) * Math.PI) / 180), MAX_SCALE);
    },
  };
}

/** Returns the distance to move a coordinate away from the edges, in pixels. */
function wayInto(coordinate: number, length: number): number {
  return Math.max(0, EDGE - coordinate) - Math.max(0, coordinate - (length - EDGE));
}
