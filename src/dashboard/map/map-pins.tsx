import { useRef, useState } from "preact/hooks";
import { type LatLng, rounded, type Spot } from "./map-geometry.ts";
import type { MapPoint, MapView } from "./map-view.ts";

/** The pickup or dropoff of a route. */
export type PointEnd = Exclude<MapPoint["end"], "courier">;

/** Labels of the points. Pins show the first letter. */
export const END_NAMES: Readonly<Record<MapPoint["end"], string>> = {
  pickup: "Pickup",
  dropoff: "Dropoff",
  courier: "Courier",
};

/** Tracks a moving pin. Events see each change immediately, and the component rerenders. */
export function useMovingPin() {
  const moved = useRef<MapPoint>(undefined);
  const [, setShown] = useState<MapPoint>();
  return {
    current: () => moved.current,
    /** Shows a pin at another point. `undefined` restores the original point. */
    move: (point: MapPoint | undefined) => setShown((moved.current = point)),
    /** Returns the displayed point of a pin, including an unfinished move. */
    shownAs: (point: MapPoint) => (moved.current?.end === point.end ? moved.current : point),
  };
}

interface PinsProps {
  readonly points: readonly MapPoint[];
  readonly view: { readonly current: MapView | null };
  readonly moving: ReturnType<typeof useMovingPin>;
  /** Called with the pin's position on the map while it moves. */
  readonly pointAt: (spot: Spot) => void;
  /** Called when a pin was dropped. If omitted, pins cannot be moved. */
  readonly onMove: ((end: PointEnd, point: LatLng) => void) | undefined;
}

/**
 * Pins for the pickup and dropoff of a route, above a map. `positionPins` moves them with the map.
 * A pin can be dragged with a pointer. When focused, it moves with the arrow keys and is dropped on
 * key release. Escape restores its position.
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

/** Positions the pins among an element's children at their points on the map. */
export function positionPins(
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

/** Distance that an arrow key moves a pin, in pixels. With Shift it moves by one pixel. */
const STEP = 10;

const DIRECTIONS: Readonly<Record<string, Spot>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Returns the position to which an arrow key moves a point of the map. `undefined` for other keys. */
export function movedBy({ key, shiftKey }: KeyboardEvent, [x, y]: Spot): Spot | undefined {
  const direction = DIRECTIONS[key];
  const step = shiftKey ? 1 : STEP;
  return direction && [x + direction[0] * step, y + direction[1] * step];
}

function MovablePin(props: PinsProps & { readonly point: MapPoint }) {
  const { end, lat, lng } = props.point;
  const { spot, drag, drop, putBack } = pinMoves(props);
  /** Offset from the pointer to the dragged pin. */
  const dragged = useRef<Spot>(undefined);
  const release = (settle: () => void) => {
    if (dragged.current !== undefined) settle();
    dragged.current = undefined;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moved = movedBy(event, spot());
    const isPutBack = event.key === "Escape" && putBack();
    if (moved === undefined && !isPutBack) return;
    event.preventDefault();
    if (moved !== undefined) drag(moved);
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
        dragged.current = [x - event.clientX, y - event.clientY];
      }}
      onPointerMove={({ clientX, clientY }) => {
        if (dragged.current !== undefined) drag([clientX + dragged.current[0], clientY + dragged.current[1]]);
      }}
      onPointerUp={() => release(drop)}
      onPointerCancel={() => release(putBack)}
    >
      {END_NAMES[end].charAt(0)}
    </div>
  );
}

function pinMoves({ point, view, moving, pointAt, onMove }: PinsProps & { readonly point: MapPoint }) {
  return {
    /** Returns the pin's position on the map. */
    spot: () => view.current!.spotOf(moving.shownAs(point)),
    drag(spot: Spot) {
      const latLng = view.current!.latLngAt(spot);
      if (latLng === undefined) return;
      moving.move({ end: point.end, ...rounded(latLng) });
      pointAt(spot);
    },
    drop() {
      const moved = moving.current();
      if (moved?.end !== point.end || moved.end === "courier") return;
      onMove!(moved.end, { lat: moved.lat, lng: moved.lng });
      moving.move(undefined);
      view.current!.reveal(moved);
    },
    /** Restores the pin's position. Returns whether the pin had been moved. */
    putBack(): boolean {
      const isMoved = moving.current()?.end === point.end;
      if (isMoved) moving.move(undefined);
      return isMoved;
    },
  };
}
