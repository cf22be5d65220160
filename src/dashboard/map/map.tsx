import { useEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "../ui/button.tsx";
import { numberText } from "../ui/format.ts";
import type { LatLng, Zones } from "./map-geometry.ts";
import {
  createMapView,
  type MapContent,
  type MapLayer,
  type MapPoint,
  type MapView,
} from "./map-view.ts";
import "./map.css";

/** What a map shows, and what happens on it. */
export interface MapProps {
  /** What it is a map of. */
  readonly label: string;
  /** Zones, the lowest layer first. */
  readonly layers: readonly MapLayer[];
  /** Points, joined by a line in their order; those that have a place already. */
  readonly points?: readonly MapPoint[];
  /** Zones that are marked above the others, and brought into view when they change. */
  readonly marked?: Zones | undefined;
  /** Called with the place that the reader clicked, or chose with Enter at the cross in the middle. */
  readonly onPick?: ((place: LatLng) => void) | undefined;
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
  const { label, layers, points = NONE, marked, onPick } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useMapView(canvas, { layers, points, marked });
  const [pointed, setPointed] = useState("");
  const pick = (x: number, y: number) => {
    const place = view.current?.placeAt(x, y);
    if (place !== undefined) onPick?.(rounded(place));
  };
  const pointers = usePointers(view, {
    pick,
    pointAt: (x, y) => setPointed(textAt(view.current, x, y)),
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const map = view.current;
    if (map === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!movesByKey(event.key, map, () => onPick && pick(...map.center()))) return;
    event.preventDefault();
    setPointed(textAt(map, ...map.center()));
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
      <div class="map-buttons">
        <IconButton sign="+" label="Zoom in" onClick={() => view.current?.zoom(ZOOM_STEP)} />
        <IconButton sign="−" label="Zoom out" onClick={() => view.current?.zoom(1 / ZOOM_STEP)} />
        <IconButton sign="⤢" label="Show all" onClick={() => view.current?.fit()} />
      </div>
      <figcaption aria-live="polite">{pointed}</figcaption>
    </figure>
  );
}

/** A view on the canvas that shows the content, all of it or what is marked when its zones change. */
function useMapView(canvas: { readonly current: HTMLCanvasElement | null }, content: MapContent) {
  const view = useRef<MapView | null>(null);
  const fitted = useRef<readonly unknown[]>(undefined);
  useEffect(() => {
    view.current = createMapView(canvas.current!);
    return () => view.current?.close();
  }, [canvas]);
  const zones = [...content.layers.map((layer) => layer.zones), content.marked];
  const shown = content.layers.map(({ hidden }) => hidden).join();
  useEffect(() => {
    const before = fitted.current;
    const isSame = before?.length === zones.length && zones.every((zone, i) => zone === before[i]);
    fitted.current = zones;
    view.current?.show(content, !isSame);
  }, [...zones, zones.length, shown, content.points]);
  return view;
}

/** Drags, pinches, clicks and turns of the wheel. */
function usePointers(
  view: { readonly current: MapView | null },
  { pick, pointAt }: Record<"pick" | "pointAt", (x: number, y: number) => void>,
) {
  const down = useRef(new Map<number, { x: number; y: number }>());
  const moved = useRef(0);
  const release = (event: PointerEvent) => void down.current.delete(event.pointerId);
  return {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      if (down.current.size === 0) moved.current = 0;
      down.current.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    },
    onPointerMove(event: PointerEvent) {
      const { offsetX: x, offsetY: y, pointerId } = event;
      const before = down.current.get(pointerId);
      if (before === undefined) return pointAt(x, y);
      const other = [...down.current].find(([id]) => id !== pointerId)?.[1];
      if (other === undefined) view.current?.pan(x - before.x, y - before.y);
      else {
        const factor = distance({ x, y }, other) / (distance(before, other) || 1);
        view.current?.zoom(factor, [(x + other.x) / 2, (y + other.y) / 2]);
      }
      moved.current += distance(before, { x, y });
      down.current.set(pointerId, { x, y });
    },
    onPointerUp(event: PointerEvent) {
      if (down.current.size === 1 && moved.current < 5) pick(event.offsetX, event.offsetY);
      release(event);
    },
    onPointerCancel: release,
    onWheel(event: WheelEvent) {
      // Otherwise the page is scrolled; pinching on a touchpad comes with Ctrl.
      if (!event.ctrlKey && document.activeElement !== event.currentTarget) return;
      event.preventDefault();
      view.current?.zoom(Math.exp(-event.deltaY * 0.002), [event.offsetX, event.offsetY]);
    },
  };
}

function distance(a: { x: number; y: number }, b: { x: number; y: number }): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** Whether the key did something on the map. */
function movesByKey(key: string, map: MapView, choose: () => void): boolean {
  const moves: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => map.pan(PAN_STEP, 0),
    ArrowRight: () => map.pan(-PAN_STEP, 0),
    ArrowUp: () => map.pan(0, PAN_STEP),
    ArrowDown: () => map.pan(0, -PAN_STEP),
    "+": () => map.zoom(ZOOM_STEP),
    "=": () => map.zoom(ZOOM_STEP),
    "-": () => map.zoom(1 / ZOOM_STEP),
    "0": () => map.fit(),
    Enter: choose,
  };
  if (!Object.hasOwn(moves, key)) return false;
  moves[key]!();
  return true;
}

/** To about ten centimetres, which no address is more exact than. */
function rounded({ lat, lng }: LatLng): LatLng {
  return { lat: Math.round(lat * 1e6) / 1e6, lng: Math.round(lng * 1e6) / 1e6 };
}

/** The zone and the coordinates at a point. */
function textAt(view: MapView | null, x: number, y: number): string {
  const place = view?.placeAt(x, y);
  if (view === null || place === undefined) return "";
  const { lat, lng } = place;
  return `${view.zoneAt(x, y) ?? "Outside of every zone"} · ${lat.toFixed(4)}, ${lng.toFixed(4)}`;
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
  const places = points.map(({ name, lat, lng }) => `${name} at ${lat}, ${lng}`);
  return [...places, zones].join(". ");
}
