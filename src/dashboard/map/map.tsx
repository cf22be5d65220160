import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "../ui/button.tsx";
import { numberText } from "../ui/format.ts";
import { GROUND_CREDITS, loadGround } from "./ground.ts";
import type { Spot } from "./map-frame.ts";
import { type LatLng, rounded, type Zones } from "./map-geometry.ts";
import { END_NAMES, MapPins, placePins, type PointEnd, useMovingPin } from "./map-pins.tsx";
import {
  createMapView,
  type MapContent,
  type MapLayer,
  type MapPoint,
  type MapView,
} from "./map-view.ts";
import { createTileLayer } from "./tile-layer.ts";
import { loadTileSource, type TileSource } from "./tile-source.ts";
import "./map.css";

/** What a map shows, and what happens on it. */
export interface MapProps {
  /** What it is a map of. */
  readonly label: string;
  /** Zones, the lowest layer first. */
  readonly layers: readonly MapLayer[];
  /** The ends of a route, from its pickup on; those that have a place already. */
  readonly points?: readonly MapPoint[];
  /** Zones that are marked above the others, and brought into view when they change. */
  readonly marked?: Zones | undefined;
  /** What is brought into view besides the points, when it changes. */
  readonly inView?: readonly LatLng[] | undefined;
  /** Called whenever the map was drawn, perhaps with its places elsewhere. */
  readonly onDraw?: ((view: MapView) => void) | undefined;
  /** What lies above the map. */
  readonly children?: ComponentChildren;
  /** Called with the place that the reader clicked, or chose with Enter at the cross in the middle. */
  readonly onPick?: ((place: LatLng) => void) | undefined;
  /** Called when the reader has moved an end of the route. Without it, the ends cannot be moved. */
  readonly onMove?: ((end: PointEnd, place: LatLng) => void) | undefined;
}

const NONE: readonly MapPoint[] = [];
/** How far an arrow key moves the map, in pixels, and how much a step zooms. */
const PAN_STEP = 60;
const ZOOM_STEP = 1.5;

/**
 * A map of zones and points, moved by pointer and buttons and, when it has the focus, by the wheel, the
 * arrow keys, `+`, `-` and `0`. Load it by `LazyMap`.
 */
export function ZoneMap(props: MapProps) {
  const { label, layers, points: given = NONE, marked, inView, onPick, onMove } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const moving = useMovingPin();
  const points = given.map((point) => moving.shownAs(point));
  const view = useMapView(canvas, { layers, points, marked, inView }, props.onDraw);
  const credits = useTiles(view);
  const [pointed, setPointed] = useState("");
  const pick = (spot: Spot) => {
    const place = view.current?.placeAt(spot);
    if (place !== undefined) onPick?.(rounded(place));
  };
  const pointAt = (spot: Spot) => setPointed(textAt(view.current, spot));
  const pointers = usePointers(view, { pick, pointAt });
  const onKeyDown = (event: KeyboardEvent) => {
    const map = view.current;
    if (map === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!movesByKey(event.key, map, () => onPick && pick(map.camera.center()))) return;
    event.preventDefault();
    pointAt(map.camera.center());
  };
  return (
    <figure class={onPick ? "map picks" : "map"}>
      <canvas
        ref={canvas}
        tabIndex={0}
        data-own-keys
        role="application"
        aria-label={`${label}. ${descriptionOf(layers, points)}`}
        aria-roledescription="map"
        onKeyDown={onKeyDown}
        {...pointers}
      />
      {onPick && <span class="cross" aria-hidden="true" />}
      <MapPins {...{ points, view, moving, pointAt, onMove }} />
      {props.children}
      <div class="map-buttons">
        <IconButton sign="+" label="Zoom in" onClick={() => view.current?.camera.zoom(ZOOM_STEP)} />
        <IconButton
          sign="−"
          label="Zoom out"
          onClick={() => view.current?.camera.zoom(1 / ZOOM_STEP)}
        />
        <IconButton sign="⤢" label="Show all" onClick={() => view.current?.fit()} />
      </div>
      <small class="credits">{credits}</small>
      <figcaption aria-live="polite">{pointed}</figcaption>
    </figure>
  );
}

/**
 * A view on the canvas that shows the content, all of it or what is marked when its zones or what is to be in
 * view change.
 */
function useMapView(
  canvas: { readonly current: HTMLCanvasElement | null },
  content: MapContent,
  onDraw: MapProps["onDraw"],
) {
  const view = useRef<MapView | null>(null);
  const fitted = useRef<readonly unknown[]>(undefined);
  const { points } = content;
  const latest = useRef({ points, onDraw });
  latest.current = { points, onDraw };
  useEffect(() => {
    // The ground may come when the page has gone on, and the canvas with it.
    const { parentElement } = canvas.current!;
    const map = createMapView(canvas.current!, () => {
      placePins(parentElement!, latest.current.points, map.spotOf);
      latest.current.onDraw?.(map);
    });
    view.current = map;
    // A map of zones alone is better than none.
    loadGround().then(
      (ground) => map.showBelow({ ground }),
      () => undefined,
    );
    return () => map.close();
  }, [canvas]);
  const zones = [...content.layers.map((layer) => layer.zones), content.marked, content.inView];
  const shown = content.layers.map(({ hidden }) => hidden).join();
  const places = points.map(({ end, lat, lng }) => `${end} ${lat} ${lng}`).join();
  useEffect(() => {
    const before = fitted.current;
    const isSame = before?.length === zones.length && zones.every((zone, i) => zone === before[i]);
    fitted.current = zones;
    view.current?.show(content, !isSame);
  }, [...zones, zones.length, shown, places]);
  return view;
}

/** Has the view show the images that the operator has set, if any; gives whom the ground is from. */
function useTiles(view: { readonly current: MapView | null }): string {
  const [credits, setCredits] = useState(GROUND_CREDITS);
  useEffect(() => {
    const show = (source: TileSource | undefined) => {
      const map = view.current;
      if (source === undefined || map === null) return;
      map.showBelow({ tiles: createTileLayer(source, map.redraw) });
      setCredits(source.attribution);
    };
    loadTileSource().then(show, () => undefined);
  }, [view]);
  return credits;
}

/** Drags, pinches, clicks and turns of the wheel. */
function usePointers(
  view: { readonly current: MapView | null },
  { pick, pointAt }: Record<"pick" | "pointAt", (spot: Spot) => void>,
) {
  const down = useRef(new Map<number, Spot>());
  const moved = useRef(0);
  const release = (event: PointerEvent) => void down.current.delete(event.pointerId);
  return {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      if (down.current.size === 0) moved.current = 0;
      down.current.set(event.pointerId, spotOf(event));
    },
    onPointerMove(event: PointerEvent) {
      const { pointerId } = event;
      const spot = spotOf(event);
      const before = down.current.get(pointerId);
      if (before === undefined) return pointAt(spot);
      const other = [...down.current].find(([id]) => id !== pointerId)?.[1];
      // What two fingers hold follows them: it moves with their middle, and grows as they part.
      const share = other === undefined ? 1 : 0.5;
      view.current?.camera.pan((spot[0] - before[0]) * share, (spot[1] - before[1]) * share);
      if (other !== undefined) {
        const factor = distance(spot, other) / (distance(before, other) || 1);
        view.current?.camera.zoom(factor, [(spot[0] + other[0]) / 2, (spot[1] + other[1]) / 2]);
      }
      moved.current += distance(before, spot);
      down.current.set(pointerId, spot);
    },
    onPointerUp(event: PointerEvent) {
      if (down.current.size === 1 && moved.current < 5) pick(spotOf(event));
      release(event);
    },
    onPointerCancel: release,
    onTouchMove(event: TouchEvent) {
      // One finger that goes up or down scrolls the page; two are for the map.
      if (event.touches.length > 1 && event.cancelable) event.preventDefault();
    },
    onWheel(event: WheelEvent) {
      // Otherwise the page is scrolled; pinching on a touchpad comes with Ctrl.
      if (!event.ctrlKey && document.activeElement !== event.currentTarget) return;
      event.preventDefault();
      view.current?.camera.zoom(Math.exp(-event.deltaY * 0.002), spotOf(event));
    },
  };
}

function spotOf({ offsetX, offsetY }: MouseEvent): Spot {
  return [offsetX, offsetY];
}

function distance([x, y]: Spot, other: Spot): number {
  return Math.hypot(x - other[0], y - other[1]);
}

/** Whether the key did something on the map. */
function movesByKey(key: string, map: MapView, choose: () => void): boolean {
  const moves: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => map.camera.pan(PAN_STEP, 0),
    ArrowRight: () => map.camera.pan(-PAN_STEP, 0),
    ArrowUp: () => map.camera.pan(0, PAN_STEP),
    ArrowDown: () => map.camera.pan(0, -PAN_STEP),
    "+": () => map.camera.zoom(ZOOM_STEP),
    "=": () => map.camera.zoom(ZOOM_STEP),
    "-": () => map.camera.zoom(1 / ZOOM_STEP),
    "0": () => map.fit(),
    Enter: choose,
  };
  if (!Object.hasOwn(moves, key)) return false;
  moves[key]!();
  return true;
}

/** The zone and the coordinates at a point. */
function textAt(view: MapView | null, spot: Spot): string {
  const place = view?.placeAt(spot);
  if (view === null || place === undefined) return "";
  const { lat, lng } = place;
  return `${view.zoneAt(spot) ?? "Outside of every zone"} · ${lat.toFixed(4)}, ${lng.toFixed(4)}`;
}

/** How many zones are named before they are only counted. */
const NAMED_ZONES = 12;

/** What is on the map, in words. */
function descriptionOf(layers: readonly MapLayer[], points: readonly MapPoint[]): string {
  const shown = layers.filter(({ hidden }) => !hidden);
  const names = shown.flatMap(({ zones }) =>
    zones.features.map(({ properties }) => properties?.name),
  );
  const zones =
    names.length > NAMED_ZONES
      ? `${numberText(names.length)} zones`
      : `Zones: ${names.map((name) => name ?? "unnamed").join(", ") || "none"}`;
  const places = points.map(({ end, lat, lng }) => `${END_NAMES[end]} at ${lat}, ${lng}`);
  return [...places, zones].join(". ");
}
