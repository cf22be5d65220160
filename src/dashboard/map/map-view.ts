import type { Coordinate } from "ol/coordinate.js";
import { buffer, getArea, wrapX } from "ol/extent.js";
import Feature from "ol/Feature.js";
import GeoJSON from "ol/format/GeoJSON.js";
import type Geometry from "ol/geom/Geometry.js";
import LineString from "ol/geom/LineString.js";
import Point from "ol/geom/Point.js";
import DragPan from "ol/interaction/DragPan.js";
import MouseWheelZoom from "ol/interaction/MouseWheelZoom.js";
import PinchZoom from "ol/interaction/PinchZoom.js";
import VectorLayer from "ol/layer/Vector.js";
import OlMap from "ol/Map.js";
import VectorSource from "ol/source/Vector.js";
import View from "ol/View.js";
import { createGroundLayers, type Ground, loadGround } from "./ground.ts";
import { coordinateOf, createCamera } from "./map-camera.ts";
import type { LatLng, Spot, Zone, Zones } from "./map-geometry.ts";
import { createPalette, type LayerTone, type Palette } from "./palette.ts";
import { createTileLayer } from "./tile-layer.ts";
import type { TileSource } from "./tile-source.ts";
import { type Area, extentAround, nearestTo, polygonsOf, WORLD } from "./world.ts";

/** A layer of zones drawn in one style. */
export interface MapLayer {
  readonly zones: Zones;
  readonly tone?: LayerTone;
  /** Whether the layer is hidden. Toggling does not move the map. */
  readonly hidden?: boolean;
}

/** The pickup or dropoff of a route, or the courier's location. */
export interface MapPoint extends LatLng {
  readonly end: "pickup" | "dropoff" | "courier";
}

/** Contents of a map. An arrow connects pickup and dropoff. */
export interface MapContent {
  readonly layers: readonly MapLayer[];
  readonly points: readonly MapPoint[];
  /** Zones highlighted above all layers. */
  readonly marked?: Zones | undefined;
  /** A zone being edited, drawn above all others. */
  readonly sketch?: Zone["geometry"] | undefined;
  /** Additional points to bring into view. */
  readonly inView?: readonly LatLng[] | undefined;
}

export type MapView = ReturnType<typeof createMapView>;

/** Minimum radius shown around a point, in meters at the equator. */
const AROUND_M = 1_100;

// OpenLayers sets this letter as HTML to measure it. The content security policy forbids any other HTML.
window.trustedTypes?.createPolicy("default", {
  createHTML: (html) => (html === "M" ? html : null),
});

const GEOJSON = new GeoJSON({ featureProjection: "EPSG:3857" });

/** Callbacks of a map, with positions in CSS pixels from its upper left corner. */
export interface MapEvents {
  /** Called after drawing, when positions may have changed. */
  drawn(): void;
  clicked(spot: Spot): void;
  pointed(spot: Spot): void;
}

export function createMapView(target: HTMLElement, on: MapEvents) {
  let content: MapContent = { layers: [], points: [] };
  let isFittedToMarked = false;
  let fitted: readonly number[] | undefined;
  const [zones, route] = [new VectorSource<Feature<Area>>(), new VectorSource()];
  const sketch = new VectorSource<Feature<Area>>();
  const map = createMap(target);
  const camera = createCamera(map);
  const { size, at } = camera;
  const fit = (toMarked = isFittedToMarked) => {
    isFittedToMarked = toMarked;
    const margin = Math.min(...size()) * 0.08;
    if (margin === 0) return;
    const padding = [margin, margin, margin, margin];
    map.getView().fit(extentOf(content, toMarked), { padding, size: size() });
    fitted = at();
  };
  map.on("change:size", () => {
    // Fit again only if the user has not moved the map. Otherwise the center stays in place.
    if (fitted === undefined || String(fitted) === String(at())) fit();
  });
  map.on("postrender", on.drawn);
  map.on("click", ({ pixel: [x, y] }) => on.clicked([x!, y!]));
  map.on("pointermove", ({ pixel: [x, y], dragging }) => dragging || on.pointed([x!, y!]));
  const { showTiles, close } = drawLayers(map, target, [zones, sketch], route);

  return {
    ...camera,
    showTiles,
    close,
    /** Replaces the contents. With `toFit`, fits the marked zones, or all contents if none are marked. */
    show(next: MapContent, toFit: boolean): void {
      if (!hasSameZones(next, content)) {
        zones.clear();
        zones.addFeatures(zoneFeatures(next));
      }
      if (next.sketch !== content.sketch) {
        sketch.clear();
        if (next.sketch) sketch.addFeature(new Feature({ geometry: areaOf(next.sketch), tone: "marked" }));
      }
      content = next;
      route.clear();
      route.addFeatures(routeFeatures(next.points.filter(({ end }) => end !== "courier").map(coordinateOf)));
      if (toFit) fit(next.marked !== undefined);
    },
    /** Brings all contents into view. */
    fit: () => fit(false),
    /** Returns the name of the topmost zone at a position. */
    zoneAt(spot: Spot): string | undefined {
      const found = zones.getFeaturesAtCoordinate(nearestTo([0, 0], camera.coordinateAt(spot)));
      return found.toSorted((one, other) => other.get("order") - one.get("order"))[0]?.get("name");
    },
  };
}

function createMap(target: HTMLElement): OlMap {
  return new OlMap({
    target,
    // At the highest zoom, a pixel is a third of a meter.
    view: new View({ center: [0, 0], zoom: 0, maxZoom: 19, multiWorld: true }),
    moveTolerance: 5,
    controls: [],
    interactions: [
      new DragPan(),
      new PinchZoom({ duration: 0 }),
      // The wheel zooms with Ctrl or while the map is focused. Otherwise it scrolls the page.
      // Touchpads report pinching as Ctrl and wheel.
      new MouseWheelZoom({
        duration: 0,
        condition: ({ originalEvent }) => (originalEvent as WheelEvent).ctrlKey || document.activeElement === target,
      }),
    ],
  });
}

/** Draws the background, zones and route in the theme's colors. */
function drawLayers(
  map: OlMap,
  target: HTMLElement,
  areas: readonly VectorSource<Feature<Area>>[],
  route: VectorSource,
) {
  const view = map.getView();
  let palette = createPalette(target);
  let ground: ReturnType<typeof createGroundLayers> | undefined;
  let hasTiles = false;
  const inView = () => wrapX(view.calculateExtent(map.getSize()), view.getProjection());
  for (const source of areas) {
    map.addLayer(
      new VectorLayer({
        source,
        declutter: true,
        // Names of larger zones have precedence.
        renderOrder: (one, other) => sizeOf(other as Feature) - sizeOf(one as Feature),
        style: (feature, resolution) => palette.zone(feature, inView(), resolution),
        zIndex: 3,
      }),
    );
  }
  map.addLayer(createRouteLayer(route, () => palette));
  // The map has no size once the user has left the page.
  const chooseNames = () => ground?.chooseNames(map.getSize() ?? [0, 0]);
  map.on("moveend", () => {
    // The visible part of a zone determines its name's position.
    for (const source of areas) source.changed();
    chooseNames();
  });
  const stopFollowing = followTheme(() => {
    // The theme's colors are unavailable after the page is left.
    if (!target.isConnected) return;
    palette = createPalette(target);
    for (const layer of map.getAllLayers()) layer.changed();
  });
  let isClosed = false;
  const showGround = (loaded: Ground) => {
    if (isClosed) return;
    ground = createGroundLayers(loaded, () => palette, view);
    map.addLayer(ground.land);
    // Tile images already include names.
    if (!hasTiles) map.addLayer(ground.names);
    target.classList.add("on-ground");
    chooseNames();
  };
  // If the background fails to load, the map shows only the zones.
  loadGround().then(showGround, () => undefined);
  return {
    /** Shows tile images above the background. */
    showTiles(source: TileSource): void {
      map.addLayer(createTileLayer(source, () => palette.shade));
      hasTiles = true;
      if (ground) map.removeLayer(ground.names);
    },
    close(): void {
      isClosed = true;
      stopFollowing();
      // A map does not dispose its layers, and shared sources would keep each layer that listens to them.
      const layers = [...map.getAllLayers(), ...(ground ? [ground.land, ground.names] : [])];
      map.dispose();
      for (const layer of layers) layer.dispose();
    },
  };
}

function createRouteLayer(source: VectorSource, palette: () => Palette) {
  return new VectorLayer({
    source,
    declutter: true,
    style: (feature, resolution) => palette().route(feature, resolution),
    zIndex: 4,
  });
}

/** Calls `changed` when the theme changes. Returns an unsubscribe function. */
function followTheme(changed: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed);
  return () => dark.removeEventListener("change", changed);
}

function sizeOf(feature: Feature): number {
  return getArea(feature.getGeometry()!.getExtent());
}

function hasSameZones(one: MapContent, other: MapContent): boolean {
  const isSame = ({ zones, hidden }: MapLayer, i: number) =>
    zones === other.layers[i]!.zones && hidden === other.layers[i]!.hidden;
  return one.layers.length === other.layers.length && one.layers.every(isSame) && one.marked === other.marked;
}

function areaOf(geometry: Zone["geometry"]): Area {
  return GEOJSON.readGeometry(geometry) as Geometry as Area;
}

function areasOf(zones: Zones): readonly Area[] {
  return zones.features.map(({ geometry }) => areaOf(geometry));
}

function zoneFeatures({ layers, marked }: MapContent): Feature<Area>[] {
  const shown: readonly MapLayer[] = layers.filter(({ hidden }) => !hidden);
  const all = marked ? [...shown, { zones: marked, tone: "marked" as const }] : shown;
  return all.flatMap(({ zones, tone = "zone" }, order) =>
    areasOf(zones).map((geometry, i) => {
      const name = zones.features[i]!.properties?.name;
      return new Feature({ geometry, tone, name, order });
    }),
  );
}

/** Returns the features of a route: its points and the lines between consecutive points. */
function routeFeatures(ends: readonly Coordinate[]): Feature[] {
  const lines = ends.slice(1).map((end, i) => new Feature(new LineString([ends[i]!, nearestTo(ends[i]!, end)])));
  return [...lines, ...ends.map((end) => new Feature(new Point(end)))];
}

/** Returns the extent of the points in view, otherwise of the marked zones if requested, the zones or the world. */
function extentOf({ layers, marked, points, inView = [] }: MapContent, toMarked: boolean) {
  const extents = [...points, ...inView].map((point) => new Point(coordinateOf(point)).getExtent());
  if (extents.length > 0) return buffer(extentAround(extents), AROUND_M);
  const zones = toMarked && marked ? [marked] : layers.map((layer) => layer.zones);
  const areas = zones.flatMap(areasOf).flatMap(polygonsOf);
  if (areas.length === 0) return [-WORLD / 2, -WORLD / 2, WORLD / 2, WORLD / 2];
  return extentAround(areas.map((area) => area.getExtent()));
}
