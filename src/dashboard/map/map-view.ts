import type { GeoProjection } from "d3-geo";
import { type Below, drawMap } from "./draw-map.ts";
import { createCamera, type Size } from "./map-camera.ts";
import {
  onCanvas,
  placeAt,
  type Spot,
  type WorldFrame,
  worldFrame,
  type WorldPart,
} from "./map-frame.ts";
import { fitProjection, type LatLng, rewind, type Zones } from "./map-geometry.ts";
import { isIn, type LayerTone, shapesOf, type ZoneShapes } from "./zone-shapes.ts";

/** Zones that are drawn alike. */
export interface MapLayer {
  readonly zones: Zones;
  readonly tone?: LayerTone;
  /** Whether it is left out; the map stays where it is when that changes. */
  readonly hidden?: boolean;
}

/** An end of a route. */
export interface MapPoint extends LatLng {
  readonly end: "pickup" | "dropoff";
}

/** What is on a map. Points are joined by an arrow, in their order. */
export interface MapContent {
  readonly layers: readonly MapLayer[];
  readonly points: readonly MapPoint[];
  /** Zones that are marked above all layers. */
  readonly marked?: Zones | undefined;
  /** What is to be in view besides the points. */
  readonly inView?: readonly LatLng[] | undefined;
}

export type MapView = ReturnType<typeof createMapView>;

/**
 * A map on a canvas, which can be moved. Coordinates are in CSS pixels from its upper left corner. Shapes
 * are projected once for each fit, and then only moved and scaled, so that panning is quick.
 *
 * @param drawn called whenever the map was drawn, perhaps with its places elsewhere
 */
export function createMapView(canvas: HTMLCanvasElement, drawn: () => void) {
  const context = canvas.getContext("2d")!;
  const size = () => ({ width: canvas.clientWidth, height: canvas.clientHeight });
  let content: MapContent = { layers: [], points: [] };
  let projection = fitProjection([], [], size());
  let isFittedToMarked = false;
  let shapes: ZoneShapes = [];
  let drawnSize = size();
  let below: Below = {};
  const worldSize = () => 2 * Math.PI * projection.scale();
  const camera = createCamera(size, worldSize, () => drawing.request());
  const spotOf = ({ lat, lng }: LatLng): Spot => {
    const [x, y] = projection([lng, lat]) ?? [NaN, NaN];
    return onCanvas([x, y], camera.at());
  };
  const frame = () => worldFrame(projection, camera.at());
  const drawing = onceAFrame(() => {
    drawnSize = size();
    const route = content.points.map(spotOf);
    drawMap(context, { size: drawnSize, shapes, route, frame: frame(), at: camera.at(), ...below });
    drawn();
  });
  const fit = (toMarked = isFittedToMarked) => {
    isFittedToMarked = toMarked;
    if (canvas.clientWidth === 0 || canvas.clientHeight === 0) return;
    projection = projectionOf(content, isFittedToMarked, size());
    shapes = shapesIn(content, projection);
    camera.reset();
  };
  const stopLooking = onLookChange(canvas, () => {
    if (camera.isUnmoved()) return fit();
    // What is in the middle stays there.
    const { width, height } = size();
    camera.pan((width - drawnSize.width) / 2, (height - drawnSize.height) / 2);
  });

  return {
    camera,
    /** Shows other content; with `toFit`, also so that what is marked is in view, or else all of it. */
    show(next: MapContent, toFit: boolean): void {
      const changed = !hasSameZones(next, content);
      content = next;
      if (toFit) return fit(next.marked !== undefined);
      if (changed) shapes = shapesIn(content, projection);
      drawing.request();
    },
    /** Draws this below the zones, with what is there already. */
    showBelow(part: Below): void {
      below = { ...below, ...part };
      drawing.request();
    },
    redraw: drawing.request,
    /** Brings everything into view. */
    fit: () => fit(false),
    /** The place at a point; undefined outside of the world. */
    placeAt: (spot: Spot): LatLng | undefined => placeAt(frame(), spot),
    /** Where a place is. */
    spotOf,
    /** What of the world is in view. */
    part: () => partOf(frame(), size()),
    /** The name of the uppermost zone at a point. */
    zoneAt: (spot: Spot): string | undefined =>
      shapes.findLast((shape) => isIn(context, shape, spot, camera.at()))?.name,
    close() {
      stopLooking();
      drawing.cancel();
    },
  };
}

function partOf(frame: WorldFrame, { width, height }: Size): WorldPart {
  const { left, top, size } = frame;
  const latAt = (y: number) =>
    placeAt(frame, [0, Math.min(Math.max(y, top), top + size)])?.lat ?? 0;
  const lngAt = (x: number) => ((x - left) / size) * 360 - 180;
  return { edges: [lngAt(0), latAt(height), lngAt(width), latAt(0)], worldSize: size };
}

/** Does something once before the next frame, however often that is requested, until it is cancelled. */
function onceAFrame(work: () => void) {
  let frame = 0;
  let isOver = false;
  return {
    request() {
      if (isOver) return;
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        work();
      });
    },
    cancel() {
      isOver = true;
      cancelAnimationFrame(frame);
    },
  };
}

/** Calls back when the canvas has another size or the page another theme; gives what ends that. */
function onLookChange(canvas: HTMLCanvasElement, changed: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const resized = new ResizeObserver(changed);
  resized.observe(canvas);
  dark.addEventListener("change", changed);
  return () => {
    resized.disconnect();
    dark.removeEventListener("change", changed);
  };
}

function hasSameZones(one: MapContent, other: MapContent): boolean {
  const isSame = ({ zones, hidden }: MapLayer, i: number) =>
    zones === other.layers[i]!.zones && hidden === other.layers[i]!.hidden;
  return (
    one.layers.length === other.layers.length &&
    one.layers.every(isSame) &&
    one.marked === other.marked
  );
}

/** Zones wound as d3-geo wants them, by the zones as they came. */
const TURNED = new WeakMap<Zones, Zones>();

function turned(zones: Zones): Zones {
  let known = TURNED.get(zones);
  if (known === undefined) TURNED.set(zones, (known = rewind(zones)));
  return known;
}

/** Shows what is marked, if that is wanted and there is something, or else everything. */
function projectionOf(
  { layers, marked, points, inView = [] }: MapContent,
  toMarked: boolean,
  size: Size,
): GeoProjection {
  if (toMarked && marked !== undefined) return fitProjection([turned(marked)], [], size);
  const zones = layers.map((layer) => turned(layer.zones));
  return fitProjection(zones, [...points, ...inView], size);
}

function shapesIn({ layers, marked }: MapContent, projection: GeoProjection): ZoneShapes {
  const shown: readonly MapLayer[] = layers.filter(({ hidden }) => !hidden);
  const all = marked ? [...shown, { zones: marked, tone: "marked" as const }] : shown;
  return all.flatMap(({ zones, tone = "zone" }) =>
    shapesOf(turned(zones).features, tone, projection),
  );
}
