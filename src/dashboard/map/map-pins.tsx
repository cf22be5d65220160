import { useRef, useState } from "preact/hooks";
import { type LatLng, rounded, type Spot } from "./map-geometry.ts";
import type { MapPoint, MapView } from "./map-view.ts";

/** One of the ends of a route. */
export type PointEnd = Exclude<MapPoint["end"], "courier">;

/** How points are called. Their first letters stand on the map. */
export const END_NAMES: Readonly<Record<MapPoint["end"], string>> = {
  pickup: "Pickup",
  dropoff: "Dropoff",
  courier: "Courier",
};

/** The pin that the reader is moving, if there is one. */
export interface MovingPin {
  current(): MapPoint | undefined;
  /** Shows a pin elsewhere; undefined puts it back. */
  move(point: MapPoint | undefined): void;
  /** A point, or where its pin is while that is being moved. */
  shownAs(point: MapPoint): MapPoint;
}

/** Follows a pin that is being moved, event by event, and has the component show where it is. */
export function useMovingPin(): MovingPin {
  const moved = useRef<MapPoint>(undefined);
  const [, setShown] = useState<MapPoint>();
  return {
    current: () => moved.current,
    move: (point) => setShown((moved.current = point)),
    shownAs: (point) => (moved.current?.end === point.end ? moved.current : point),
  };
}

interface PinsProps {
  readonly points: readonly MapPoint[];
  readonly view: { readonly current: MapView | null };
  readonly moving: MovingPin;
  /** Called with where on the map a pin is while it is being moved. */
  readonly pointAt: (spot: Spot) => void;
  /** Called when a pin was left at a place; without it, pins cannot be moved. */
  readonly onMove: ((end: PointEnd, place: LatLng) => void) | undefined;
}

/**
 * The ends of a route above a map, which `placePins` moves with it. They are dragged by a pointer, or moved by
 * arrow keys while they have the focus: they stay where they are when the key is released, and are put
 * back by Escape.
 */
export function MapPins(props: PinsProps) {
  return props.points.map((point) =>
    props.onMove === undefined ? (
      <span key={point.end} class={`pin ${point.end}`} data-end={point.end} aria-hidden="true">
        {END_NAMES[point.end].charAt(0)}
      </span>
    ) : (
      <MovablePin key={point.end} {...props} point={point} />
    ),
  );
}

/** Puts the pins among the children of an element where the map has their points. */
export function placePins(
  parent: HTMLElement,
  points: readonly MapPoint[],
  spotOf: (point: MapPoint) => Spot,
): void {
  for (const point of points) {
    const pin = parent.querySelector<HTMLElement>(`:scope > [data-end="${point.end}"]`);
    const [x, y] = spotOf(point);
    if (pin !== null) pin.style.translate = `${x}px ${y}px`;
  }
}

/** How far an arrow key moves a pin, in pixels; with Shift one. */
const STEP = 10;

const DIRECTIONS: Readonly<Record<string, Spot>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function MovablePin(props: PinsProps & { readonly point: MapPoint }) {
  const { end, lat, lng } = props.point;
  const { spot, drag, drop, putBack } = pinMoves(props);
  /** From the pointer that holds the pin to where the pin is. */
  const held = useRef<Spot>(undefined);
  const release = (settle: () => void) => {
    if (held.current !== undefined) settle();
    held.current = undefined;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = DIRECTIONS[event.key];
    const isPutBack = event.key === "Escape" && putBack();
    if (direction === undefined && !isPutBack) return;
    event.preventDefault();
    if (direction === undefined) return;
    const [x, y] = spot();
    const step = event.shiftKey ? 1 : STEP;
    drag([x + direction[0] * step, y + direction[1] * step]);
  };
  return (
    <div
      class={`pin movable ${end}`}
      data-end={end}
      data-own-keys
      tabIndex={0}
      role="application"
      aria-roledescription="movable pin"
      aria-label={`${END_NAMES[end]} at ${lat}, ${lng}. Arrow keys move it`}
      onKeyDown={onKeyDown}
      onKeyUp={({ key }) => key in DIRECTIONS && drop()}
      onBlur={drop}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const [x, y] = spot();
        held.current = [x - event.clientX, y - event.clientY];
      }}
      onPointerMove={({ clientX, clientY }) => {
        if (held.current !== undefined)
          drag([clientX + held.current[0], clientY + held.current[1]]);
      }}
      onPointerUp={() => release(drop)}
      onPointerCancel={() => release(putBack)}
    >
      {END_NAMES[end].charAt(0)}
    </div>
  );
}

/** What moves one pin. */
function pinMoves({
  point,
  view,
  moving,
  pointAt,
  onMove,
}: PinsProps & { readonly point: MapPoint }) {
  return {
    /** Where it is on the map. */
    spot: () => view.current!.spotOf(moving.shownAs(point)),
    drag(spot: Spot) {
      const place = view.current!.placeAt(spot);
      if (place === undefined) return;
      moving.move({ end: point.end, ...rounded(place) });
      pointAt(spot);
    },
    drop() {
      const moved = moving.current();
      if (moved?.end !== point.end || moved.end === "courier") return;
      onMove!(moved.end, { lat: moved.lat, lng: moved.lng });
      moving.move(undefined);
      view.current!.reveal(moved);
    },
    /** Whether it had been moved. */
    putBack(): boolean {
      const isMoved = moving.current()?.end === point.end;
      if (isMoved) moving.move(undefined);
      return isMoved;
    },
  };
}
