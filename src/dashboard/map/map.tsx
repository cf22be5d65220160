import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "../ui/button.tsx";
import { numberText } from "../ui/format.ts";
import { Spinner } from "../ui/page.tsx";
import { GROUND_CREDITS } from "./ground.ts";
import { type LatLng, rounded, type Spot, type Zones } from "./map-geometry.ts";
import { END_NAMES, MapPins, positionPins, type PointEnd, useMovingPin } from "./map-pins.tsx";
import {
  createMapView,
  type MapContent,
  type MapEvents,
  type MapLayer,
  type MapPoint,
  type MapView,
} from "./map-view.ts";
import { loadTileSource, type TileSource } from "./tile-source.ts";
import "./map.css";

export interface MapProps {
  readonly label: string;
  /** Layers of zones, from bottom to top. */
  readonly layers: readonly MapLayer[];
  /** Known points of the route, pickup first, and of its courier. */
  readonly points?: readonly MapPoint[];
  /** Zones highlighted above the layers. The map moves to them when they change. */
  readonly marked?: Zones | undefined;
  /** A zone being edited, drawn above all others. The map does not move to it. */
  readonly sketch?: MapContent["sketch"];
  /** Additional points. The map moves to them when they change. */
  readonly inView?: readonly LatLng[] | undefined;
  /** Called after each drawing, because positions may have changed. */
  readonly onDraw?: ((view: MapView) => void) | undefined;
  /** Contents rendered on top of the map. */
  readonly children?: ComponentChildren;
  /** Called with the point that the user clicked, or chose with Enter at the crosshair. */
  readonly onPick?: ((point: LatLng) => void) | undefined;
  /** Called when the user has moved the pickup or dropoff. If omitted, they cannot be moved. */
  readonly onMove?: ((end: PointEnd, point: LatLng) => void) | undefined;
}

const NONE: readonly MapPoint[] = [];
/** Distance that an arrow key pans, in pixels. */
const PAN_STEP = 60;
const ZOOM_STEP = 1.5;

/**
 * A map of zones and points. It has pointer and button controls. When focused, it also handles the
 * wheel, the arrow keys, `+`, `-` and `0`. Load it through `LazyMap`.
 */
export function ZoneMap(props: MapProps) {
  const { label, layers, marked, sketch, inView, onPick, onMove } = props;
  const [target, scale] = [useRef<HTMLDivElement>(null), useRef<HTMLElement>(null)];
  const moving = useMovingPin();
  const points = (props.points ?? NONE).map((point) => moving.shownAs(point));
  const [pointed, setPointed] = useState("");
  const pick = (spot: Spot) => {
    const point = onPick && view.current?.latLngAt(spot);
    if (point) onPick(rounded(point));
  };
  const pointAt = (spot: Spot) => setPointed(textAt(view.current, spot));
  const view = useMapView(
    target,
    { layers, points, marked, sketch, inView },
    {
      drawn(map) {
        // The map may draw once more while the user leaves the page.
        if (target.current === null || scale.current === null) return;
        positionPins(target.current.parentElement!, points, map.spotOf);
        showScale(scale.current, map);
        props.onDraw?.(map);
      },
      clicked: pick,
      pointed: pointAt,
    },
  );
  const credits = useTiles(view);
  const onKeyDown = (event: KeyboardEvent) => {
    const map = view.current;
    if (map === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!handleKey(event.key, map, () => pick(map.middle()))) return;
    event.preventDefault();
    pointAt(map.middle());
  };
  return (
    <figure class={onPick ? "map picks" : "map"} onTouchMoveCapture={leaveToPage}>
      <div
        ref={target}
        class="map-view"
        tabIndex={0}
        data-own-keys
        role="application"
        aria-label={`${label}. ${descriptionOf(layers, points)}`}
        aria-roledescription="map"
        onKeyDown={onKeyDown}
      />
      {onPick && <span class="cross" aria-hidden="true" />}
      <MapPins {...{ points, view, moving, pointAt, onMove }} />
      {props.children}
      <div class="map-buttons">
        <IconButton sign="+" label="Zoom in" onClick={() => view.current?.zoom(ZOOM_STEP)} />
        <IconButton sign="−" label="Zoom out" onClick={() => view.current?.zoom(1 / ZOOM_STEP)} />
        <IconButton sign="⤢" label="Show all" onClick={() => view.current?.fit()} />
      </div>
      <span ref={scale} class="scale" aria-hidden="true" />
      <Spinner label="Loading the map" />
      <small class="credits">{credits}</small>
      <figcaption aria-live="polite">{pointed}</figcaption>
    </figure>
  );
}

/** Shows the operator's tile images, if configured. Returns the background's attribution. */
function useTiles(view: { readonly current: MapView | null }): string {
  const [credits, setCredits] = useState(GROUND_CREDITS);
  useEffect(() => {
    const show = (source: TileSource | undefined) => {
      if (source === undefined || view.current === null) return;
      view.current.showTiles(source);
      setCredits(source.attribution);
    };
    loadTileSource().then(show, () => undefined);
  }, [view]);
  return credits;
}

function showScale(element: HTMLElement, map: MapView): void {
  const { text, width } = map.scale();
  element.textContent = text;
  element.style.width = `${width}px`;
}

/** Lets a swipe with one finger scroll the page. Two fingers control the map. */
function leaveToPage(event: TouchEvent): void {
  if (event.touches.length === 1) event.stopPropagation();
}

/**
 * Creates a map view in the element. When the zones or `inView` change, the map moves to the marked
 * zones, or to all contents if none are marked.
 */
function useMapView(
  target: { readonly current: HTMLDivElement | null },
  content: MapContent,
  on: Omit<MapEvents, "drawn"> & { drawn(view: MapView): void },
) {
  const view = useRef<MapView | null>(null);
  const fitted = useRef<readonly unknown[]>(undefined);
  const latest = useRef(on);
  latest.current = on;
  useEffect(() => {
    // The user may leave the page before the map is drawn.
    if (!target.current!.isConnected) return undefined;
    const map = createMapView(target.current!, {
      drawn: () => latest.current.drawn(map),
      clicked: (spot) => latest.current.clicked(spot),
      pointed: (spot) => latest.current.pointed(spot),
    });
    view.current = map;
    return () => map.close();
  }, [target]);
  const zones = [...content.layers.map((layer) => layer.zones), content.marked, content.inView];
  const shown = content.layers.map(({ hidden }) => hidden).join();
  const positions = content.points.map(({ end, lat, lng }) => `${end} ${lat} ${lng}`).join();
  useEffect(() => {
    const before = fitted.current;
    const isSame = before?.length === zones.length && zones.every((zone, i) => zone === before[i]);
    fitted.current = zones;
    view.current?.show(content, !isSame);
  }, [...zones, zones.length, content.sketch, shown, positions]);
  return view;
}

/** Handles a key press. Returns whether the map handles this key. */
function handleKey(key: string, map: MapView, choose: () => void): boolean {
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

/** Returns the zone name and coordinates at a position. */
function textAt(view: MapView | null, spot: Spot): string {
  const point = view?.latLngAt(spot);
  if (view === null || point === undefined) return "";
  const { lat, lng } = point;
  return `${view.zoneAt(spot) ?? "Outside all zones"} · ${lat.toFixed(4)}, ${lng.toFixed(4)}`;
}

/** Maximum number of zones listed by name. Above that, only their number is given. */
const NAMED_ZONES = 12;

/** Returns a description of the map for screen readers. */
function descriptionOf(layers: readonly MapLayer[], points: readonly MapPoint[]): string {
  const shown = layers.filter(({ hidden }) => !hidden);
  const names = shown.flatMap(({ zones }) => zones.features.map(({ properties }) => properties?.name));
  const zones =
    names.length > NAMED_ZONES
      ? `${numberText(names.length)} zones`
      : `Zones: ${names.map((name) => name ?? "unnamed").join(", ") || "none"}`;
  const positions = points.map(({ end, lat, lng }) => `${END_NAMES[end]} at ${lat}, ${lng}`);
  return [...positions, zones].join(". ");
}
