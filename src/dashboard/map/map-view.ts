import { geoPath, type GeoProjection } from "d3-geo";
import { fitProjection, type LatLng, rewind, type Zones } from "./map-geometry.ts";

/** What zones are drawn for: those in force, the two sides of a comparison, or one that is marked. */
export type LayerTone = "zone" | "before" | "after" | "marked";

/** Zones that are drawn alike. */
export interface MapLayer {
  readonly zones: Zones;
  readonly tone?: LayerTone;
  /** Whether it is left out; the map stays where it is when that changes. */
  readonly hidden?: boolean;
}

/** A point with a name; its first letter stands on the map. */
export interface MapPoint extends LatLng {
  readonly name: string;
}

/** What is on a map. Points are joined by a line, in their order. */
export interface MapContent {
  readonly layers: readonly MapLayer[];
  readonly points: readonly MapPoint[];
  /** Zones that are marked above all layers. */
  readonly marked?: Zones | undefined;
}

/** A point on the canvas. */
export type Spot = readonly [x: number, y: number];

export type MapView = ReturnType<typeof createMapView>;

/** A zone as it is drawn at the base scale. */
interface Shape {
  readonly name: string | undefined;
  readonly path: Path2D;
  readonly tone: LayerTone;
}

const MIN_ZOOM = 0.2;
const MAX_ZOOM = 2_000;
const POINT_RADIUS = 9;

/**
 * A map on a canvas, which can be moved. Coordinates are in CSS pixels from its upper left corner. Shapes
 * are projected once for each fit, and then only moved and scaled, so that panning is quick.
 */
export function createMapView(canvas: HTMLCanvasElement) {
  const context = canvas.getContext("2d")!;
  let content: MapContent = { layers: [], points: [] };
  let projection: GeoProjection = fitProjection([], [], sizeOf(canvas));
  let isFittedToMarked = false;
  let shapes: readonly Shape[] = [];
  let at = UNMOVED;
  const drawing = onceAFrame(() => {
    drawAll(context, { canvas, shapes, points: content.points, projection, at });
  });
  const baseAt = (x: number, y: number): [number, number] => [(x - at.x) / at.k, (y - at.y) / at.k];
  const moveTo = (next: Transform) => {
    at = next;
    drawing.request();
  };
  const refit = () => {
    const size = sizeOf(canvas);
    if (size.width === 0 || size.height === 0) return;
    projection = projectionOf(content, isFittedToMarked, size);
    shapes = shapesOf(content, projection);
    moveTo(UNMOVED);
  };
  const fit = (toMarked = false) => {
    isFittedToMarked = toMarked;
    refit();
  };
  const stopLooking = onLookChange(canvas, () => (at === UNMOVED ? refit() : drawing.request()));

  return {
    /** Shows other content; with `toFit`, also so that what is marked is in view, or else all of it. */
    show(next: MapContent, toFit: boolean): void {
      const changed = !hasSameZones(next, content);
      content = next;
      if (toFit) return fit(next.marked !== undefined);
      if (changed) shapes = shapesOf(content, projection);
      drawing.request();
    },
    fit: () => fit(),
    pan: (dx: number, dy: number) => moveTo({ ...at, x: at.x + dx, y: at.y + dy }),
    /** Makes everything larger by a factor, around a point; the middle by default. */
    zoom: (factor: number, [x, y]: Spot = centerOf(canvas)) => moveTo(zoomed(at, factor, x, y)),
    /** The place at a point; undefined outside of the sphere. */
    placeAt(x: number, y: number): LatLng | undefined {
      const place = projection.invert?.(baseAt(x, y));
      return place ? { lat: place[1], lng: place[0] } : undefined;
    },
    /** The name of the uppermost zone at a point. */
    zoneAt(x: number, y: number): string | undefined {
      context.setTransform(1, 0, 0, 1, 0, 0);
      const isAt = ({ path }: Shape) => context.isPointInPath(path, ...baseAt(x, y), "evenodd");
      return shapes.findLast(isAt)?.name;
    },
    center: () => centerOf(canvas),
    close() {
      stopLooking();
      drawing.cancel();
    },
  };
}

/** How base coordinates become those on the canvas: times `k`, plus `x` and `y`. */
interface Transform {
  readonly k: number;
  readonly x: number;
  readonly y: number;
}

const UNMOVED: Transform = { k: 1, x: 0, y: 0 };

/** Scaled by a factor, with what is at a point staying there. */
function zoomed(at: Transform, factor: number, x: number, y: number): Transform {
  const k = Math.min(Math.max(at.k * factor, MIN_ZOOM), MAX_ZOOM);
  const ratio = k / at.k;
  return { k, x: x - (x - at.x) * ratio, y: y - (y - at.y) * ratio };
}

/** Does something once before the next frame, however often that is requested. */
function onceAFrame(work: () => void) {
  let frame = 0;
  return {
    request() {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        work();
      });
    },
    cancel: () => cancelAnimationFrame(frame),
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

function centerOf({ clientWidth, clientHeight }: HTMLCanvasElement): Spot {
  return [clientWidth / 2, clientHeight / 2];
}

function sizeOf({ clientWidth, clientHeight }: HTMLCanvasElement) {
  return { width: clientWidth, height: clientHeight };
}

/** Shows what is marked, if that is wanted and there is something, or else everything. */
function projectionOf(
  { layers, marked, points }: MapContent,
  toMarked: boolean,
  size: ReturnType<typeof sizeOf>,
): GeoProjection {
  if (toMarked && marked !== undefined) return fitProjection([turned(marked)], [], size);
  const zones = layers.map((layer) => turned(layer.zones));
  return fitProjection(zones, points, size);
}

function shapesOf({ layers, marked }: MapContent, projection: GeoProjection): Shape[] {
  const pathOf = geoPath(projection);
  const shown: readonly MapLayer[] = layers.filter(({ hidden }) => !hidden);
  const all = marked ? [...shown, { zones: marked, tone: "marked" as const }] : shown;
  return all.flatMap(({ zones, tone = "zone" }) =>
    turned(zones).features.map((zone) => ({
      name: zone.properties?.name,
      path: new Path2D(pathOf(zone) ?? ""),
      tone,
    })),
  );
}

/** What is needed to draw a map. */
interface Drawing {
  readonly canvas: HTMLCanvasElement;
  readonly shapes: readonly Shape[];
  readonly points: readonly MapPoint[];
  readonly projection: GeoProjection;
  readonly at: Transform;
}

function drawAll(context: CanvasRenderingContext2D, drawing: Drawing): void {
  const { canvas, at } = drawing;
  const { width, height } = sizeOf(canvas);
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const style = getComputedStyle(canvas);
  const color = (name: string) => style.getPropertyValue(`--map-${name}`);
  context.setTransform(ratio * at.k, 0, 0, ratio * at.k, ratio * at.x, ratio * at.y);
  for (const { path, tone } of drawing.shapes) {
    context.lineWidth = (tone === "marked" ? 2.5 : 1) / at.k;
    // Told apart without their colours too.
    context.setLineDash(tone === "before" ? [5 / at.k, 3 / at.k] : []);
    context.fillStyle = color(`${tone}-fill`);
    context.strokeStyle = color(`${tone}-line`);
    context.fill(path, "evenodd");
    context.stroke(path);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.setLineDash([]);
  drawRoute(context, drawing, color);
}

function drawRoute(
  context: CanvasRenderingContext2D,
  { points, projection, at }: Drawing,
  color: (name: string) => string,
): void {
  const places = points.map(({ lat, lng, name }) => {
    const [x, y] = projection([lng, lat]) ?? [NaN, NaN];
    return { x: x * at.k + at.x, y: y * at.k + at.y, letter: name.charAt(0) };
  });
  context.strokeStyle = context.fillStyle = color("route");
  context.lineWidth = 2;
  context.beginPath();
  for (const { x, y } of places) context.lineTo(x, y);
  context.stroke();
  context.font = `600 11px ${getComputedStyle(context.canvas).fontFamily}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const { x, y, letter } of places) {
    context.fillStyle = color("route");
    context.beginPath();
    context.arc(x, y, POINT_RADIUS, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = color("letter");
    context.fillText(letter, x, y + 0.5);
  }
}
