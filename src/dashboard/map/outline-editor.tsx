import { boundingExtent, buffer, containsXY } from "ol/extent.js";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Border, type BorderPoint, cornersBetween, nearestOnBorders } from "./borders.ts";
import { type LatLng, pointText, rounded, type Spot, type Zones } from "./map-geometry.ts";
import { movedBy } from "./map-pins.tsx";
import { positionMarks } from "./lazy-map.tsx";
import { type MapProps, ZoneMap } from "./map.tsx";
import type { MapView } from "./map-view.ts";
import { type Corner, type CornerAddress, geometryOf, isOuter, outlineOf } from "./outline.ts";
import type { Outline, OutlineAction, OutlineEdit } from "./outline.ts";
import "./cluster-marks.css";

export interface OutlineEditorProps extends Pick<MapProps, "label" | "layers"> {
  readonly edit: OutlineEdit;
  readonly dispatch: (action: OutlineAction) => void;
  /** The chosen corner, if any. */
  readonly chosen: CornerAddress | undefined;
  readonly choose: (corner: CornerAddress | undefined) => void;
  /** Zones to whose borders corners snap. */
  readonly neighbors: Zones;
}

/** Distance at which a corner snaps to a border, in pixels. */
const SNAP = 12;

/**
 * A map with the outline of a zone and handles at its corners and edges. Handles are dragged with a pointer. With the
 * focus on a corner, the arrow keys move it, `J` and `K` choose the next and the previous one, `+` adds one after it,
 * and Delete removes it. While a ring is drawn, a click, or Enter at the crosshair, adds a corner.
 */
export function OutlineEditor(props: OutlineEditorProps) {
  const { label, layers, edit, dispatch } = props;
  const { outline, drawn } = edit;
  const { chosen } = props;
  const view = useRef<MapView>(undefined);
  const list = useRef<HTMLUListElement>(null);
  const [shown, setShown] = useState<readonly Handle[]>([]);
  const snap = useSnap(props.neighbors, view);
  const sketch = useMemo(() => geometryOf(outline, 1), [outline]);
  const inView = useMemo(() => outline.flatMap(({ corners }) => corners.map(pointOf)), []);
  const draw = (map: MapView) => {
    view.current = map;
    const next = handlesIn(map, outline, chosen, drawn);
    setShown((before) => (keysOf(before) === keysOf(next) ? before : next));
    positionMarks(list.current, map);
  };
  useLayoutEffect(() => {
    if (view.current) draw(view.current);
  }, [outline, chosen, drawn]);
  useLayoutEffect(() => {
    if (view.current) positionMarks(list.current, view.current);
  }, [shown]);
  useFocusOnChosen(list, chosen, shown);
  const add = (point: LatLng) => {
    const to = snap(point);
    const last = drawn === undefined ? undefined : outline[drawn]?.corners.at(-1);
    const from = last && snap(pointOf(last), 0);
    const way = from?.on && to.on ? cornersBetween(from.on, to.on) : [];
    dispatch({ type: "add", corners: [...way, to.corner] });
  };
  const move = (corner: CornerAddress, spot: Spot, reach?: number) => {
    const point = view.current!.latLngAt(spot);
    if (point) dispatch({ type: "move", ...corner, corner: snap(rounded(point), reach).corner });
  };
  const isChosenShown = shown.some((handle) => !handle.isMiddle && isAt(handle, chosen));
  return (
    <ZoneMap {...{ label, layers, sketch, inView }} onPick={drawn === undefined ? undefined : add} onDraw={draw}>
      <ul
        ref={list}
        class="marks corners"
        aria-label="Corners in view"
        {...useDragging(props, view, move)}
        {...keysOfHandles(props, view, move)}
      >
        {shown.map((handle, i) => {
          const isChosen = !handle.isMiddle && isAt(handle, chosen);
          const isReached = isChosen || (i === 0 && !isChosenShown);
          return <HandleItem key={handle.key} {...{ handle, isChosen, isReached }} choose={props.choose} />;
        })}
      </ul>
    </ZoneMap>
  );
}

/** A corner, or the middle of the edge before it. */
interface Handle extends CornerAddress {
  readonly key: string;
  readonly corner: Corner;
  readonly isMiddle: boolean;
  readonly name: string;
}

/** Moves the focus to the chosen corner when another one is chosen. */
function useFocusOnChosen(
  list: { readonly current: HTMLElement | null },
  chosen: CornerAddress | undefined,
  shown: readonly Handle[],
): void {
  const focused = useRef(chosen);
  useLayoutEffect(() => {
    if (focused.current === chosen) return;
    const handle = list.current?.querySelector<HTMLElement>("[data-chosen]");
    // A corner out of view has a handle once the map has moved.
    if (!handle && chosen) return;
    focused.current = chosen;
    handle?.focus({ preventScroll: true });
  }, [shown, chosen]);
}

function pointOf([lng, lat]: Corner): LatLng {
  return { lat, lng };
}

function keysOf(handles: readonly Handle[]): string {
  return handles.map(({ key, corner }) => `${key} ${corner.join(" ")}`).join();
}

/** Returns a function that snaps a point to the neighbors' borders. Without a border nearby, the point stays. */
function useSnap(neighbors: Zones, view: { readonly current: MapView | undefined }) {
  const borders = useMemo(
    () =>
      neighbors.features
        .flatMap(({ geometry }) => outlineOf(geometry))
        .map(({ corners }) => ({ corners, extent: boundingExtent(corners.map((corner) => [...corner])) })),
    [neighbors],
  );
  return ({ lat, lng }: LatLng, pixels = SNAP): { readonly corner: Corner; readonly on?: BorderPoint } => {
    const degrees = 360 / view.current!.part().worldSize;
    // A corner that was snapped before is found despite rounding.
    const reach = Math.max(pixels * degrees * Math.cos((lat * Math.PI) / 180), 1e-9);
    const near: readonly Border[] = borders
      .filter(({ extent }) => containsXY(buffer(extent, Math.max(pixels * degrees, reach)), lng, lat))
      .map(({ corners }) => corners);
    const on = nearestOnBorders([lng, lat], near, reach);
    return on ? { corner: on.corner, on } : { corner: [lng, lat] };
  };
}

/** Minimum distance between handles, in pixels, for a mouse and for a finger. */
const APART = matchMedia("(pointer: coarse)").matches ? 40 : 22;

/** Returns the handles in view, without those that would overlap. The chosen corner always has one. */
function handlesIn(map: MapView, outline: Outline, chosen: CornerAddress | undefined, drawn: number | undefined) {
  const [width, height] = map.size();
  const taken = new Set<string>();
  const isFree = ([x, y]: Spot) => {
    if (x < 0 || y < 0 || x > width || y > height) return false;
    const [column, row] = [Math.round(x / APART), Math.round(y / APART)];
    if (taken.has(`${column} ${row}`)) return false;
    for (const dx of [-1, 0, 1]) for (const dy of [-1, 0, 1]) taken.add(`${column + dx} ${row + dy}`);
    return true;
  };
  const all = outline.flatMap(({ corners }, ring) =>
    corners.map((corner, index): Handle => {
      const name = `Corner ${index + 1} of ${corners.length}${isOuter(outline, ring) ? "" : " of a hole"} at ${pointText(pointOf(corner))}`;
      return { key: `${ring} ${index}`, ring, index, corner, isMiddle: false, name };
    }),
  );
  const first = all.filter((corner) => isAt(corner, chosen));
  const corners = [...first, ...all].filter((handle) => isFree(map.spotOf(pointOf(handle.corner))));
  const middles = all.flatMap(({ ring, index }): Handle[] => {
    // The last edge of a ring is not complete while the ring is drawn.
    if (ring === drawn && index === 0) return [];
    const corner = middleBefore(outline, { ring, index });
    return [
      {
        key: `${ring} ${index} middle`,
        ring,
        index,
        corner,
        isMiddle: true,
        name: `Add corner at ${pointText(pointOf(corner))}`,
      },
    ];
  });
  return [...corners, ...middles.filter((handle) => isFree(map.spotOf(pointOf(handle.corner))))];
}

/** Returns the middle of the edge before a corner. The index may be the number of corners. */
function middleBefore(outline: Outline, { ring, index }: CornerAddress): Corner {
  const { corners } = outline[ring]!;
  const [one, other] = [corners[index % corners.length]!, corners.at(index - 1)!];
  const { lat, lng } = rounded({ lat: (one[1] + other[1]) / 2, lng: (one[0] + other[0]) / 2 });
  return [lng, lat];
}

function isAt(one: CornerAddress, other: CornerAddress | undefined): boolean {
  return one.ring === other?.ring && one.index === other.index;
}

function handleOf({ target }: Event) {
  const { ring, index, middle } = (target as Element).closest("li")!.dataset;
  return { corner: { ring: Number(ring), index: Number(index) }, isMiddle: middle !== undefined };
}

type View = { readonly current: MapView | undefined };
type Move = (corner: CornerAddress, spot: Spot, reach?: number) => void;

/** Minimum distance of a drag, in pixels, so that a click does not move a corner. */
const MIN_DRAG = 3;

/** Returns the pointer listeners of the list of handles. */
function useDragging({ edit, dispatch, choose }: OutlineEditorProps, view: View, move: Move) {
  const { outline } = edit;
  /** The dragged corner, its position, and that of the pointer when the drag began. */
  const dragged = useRef<{ readonly corner: CornerAddress; readonly spot: Spot; readonly from: Spot }>(undefined);
  const isMoved = useRef(false);
  const drop = ({ isPrimary }: PointerEvent) => {
    if (!isPrimary) return;
    dragged.current = undefined;
    dispatch({ type: "drop" });
  };
  const insert = (corner: CornerAddress, middle: Corner) => dispatch({ type: "insert", ...corner, corner: middle });
  return {
    onPointerDown(event: PointerEvent & { readonly currentTarget: HTMLElement }) {
      // A second finger does not take over the drag.
      if (event.button !== 0 || !event.isPrimary) return;
      const { corner, isMiddle } = handleOf(event);
      const at = isMiddle ? middleBefore(outline, corner) : outline[corner.ring]!.corners[corner.index]!;
      if (isMiddle) insert(corner, at);
      choose(corner);
      dragged.current = { corner, spot: view.current!.spotOf(pointOf(at)), from: [event.clientX, event.clientY] };
      isMoved.current = false;
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    // Keeps the focus, which the captured pointer would otherwise remove from the handle.
    onMouseDown: (event: MouseEvent) => event.preventDefault(),
    onPointerMove({ clientX, clientY, isPrimary }: PointerEvent) {
      if (dragged.current === undefined || !isPrimary) return;
      const { corner, spot, from } = dragged.current;
      const [dx, dy] = [clientX - from[0], clientY - from[1]];
      isMoved.current ||= Math.hypot(dx, dy) >= MIN_DRAG;
      if (isMoved.current) move(corner, [spot[0] + dx, spot[1] + dy]);
    },
    onPointerUp: drop,
    onPointerCancel: drop,
    onClick(event: MouseEvent) {
      // Assistive technology clicks without a pointer.
      if (event.detail > 0 || !handleOf(event).isMiddle) return;
      const { corner } = handleOf(event);
      insert(corner, middleBefore(outline, corner));
      dispatch({ type: "drop" });
      choose(corner);
    },
  };
}

/** Distance at which a corner moved by keys snaps, in pixels. Less than a step, so that it can leave the border. */
const SNAP_OF_KEYS = 4;

/** Returns the key listeners of the list of handles. */
function keysOfHandles({ edit, dispatch, chosen, choose }: OutlineEditorProps, view: View, move: Move) {
  const { outline } = edit;
  const step = (from: CornerAddress, by: number) => {
    const all = outline.flatMap(({ corners }, ring) => corners.map((corner, index) => ({ ring, index, corner })));
    const { corner, ...next } = all.at((all.findIndex((other) => isAt(other, from)) + by) % all.length)!;
    view.current!.reveal(pointOf(corner));
    choose(next);
  };
  const insertAfter = ({ ring, index }: CornerAddress) => {
    const corner = { ring, index: index + 1 };
    dispatch({ type: "insert", ...corner, corner: middleBefore(outline, corner) });
    dispatch({ type: "drop" });
    choose(corner);
  };
  const remove = (corner: CornerAddress) => {
    dispatch({ type: "remove", ...corner });
    choose({ ...corner, index: Math.max(corner.index - 1, 0) });
  };
  return {
    onKeyDown(event: KeyboardEvent) {
      const corner = chosen && outline[chosen.ring]?.corners[chosen.index];
      if (!chosen || !corner || event.ctrlKey || event.metaKey || event.altKey) return;
      const moved = movedBy(event, view.current!.spotOf(pointOf(corner)));
      const acts: Readonly<Record<string, () => void>> = {
        j: () => step(chosen, 1),
        k: () => step(chosen, -1),
        "+": () => insertAfter(chosen),
        Delete: () => remove(chosen),
        Backspace: () => remove(chosen),
      };
      const act = moved ? () => move(chosen, moved, event.shiftKey ? 0 : SNAP_OF_KEYS) : acts[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    },
    onKeyUp: ({ key }: KeyboardEvent) => key.startsWith("Arrow") && dispatch({ type: "drop" }),
  };
}

function HandleItem(props: {
  readonly handle: Handle;
  readonly isChosen: boolean;
  /** Whether Tab moves to the handle. */
  readonly isReached: boolean;
  readonly choose: (corner: CornerAddress) => void;
}) {
  const { handle, isChosen } = props;
  const { ring, index, isMiddle, name } = handle;
  const [lng, lat] = handle.corner;
  return (
    <li data-lat={lat} data-lng={lng} data-ring={ring} data-index={index} data-middle={isMiddle || undefined}>
      <button
        type="button"
        class={`mark ${isMiddle ? "middle" : "corner"}`}
        data-own-keys
        data-chosen={isChosen || undefined}
        tabIndex={props.isReached ? 0 : -1}
        aria-label={name}
        onFocus={() => isMiddle || isChosen || props.choose({ ring, index })}
      />
    </li>
  );
}
