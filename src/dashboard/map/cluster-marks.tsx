import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { IconButton } from "../ui/button.tsx";
import type { Tone } from "../ui/description-list.tsx";
import { numberText } from "../ui/format.ts";
import { type Cluster, createClusters, type Mark } from "./clusters.ts";
import { CoverageMap, positionMarks } from "./lazy-map.tsx";
import type { LatLng } from "./map-geometry.ts";
import type { MapView } from "./map-view.ts";
import "./cluster-marks.css";

interface ClusterMapProps<T> {
  readonly label: string;
  readonly marks: readonly Mark<T>[];
  /** Points to bring into view when they change. */
  readonly inView: readonly LatLng[];
  /** Location of the courier, if known. */
  readonly courier?: LatLng | undefined;
  /** Style of the marks: pickups, dropoffs, or couriers and their next stops. */
  readonly tone: "pickup" | "dropoff" | "courier";
  /** Returns the name of a cluster, such as `3 shipments`. */
  readonly nameOf: (cluster: Cluster<T>) => string;
  /** Returns the text on a single mark. Counts of clusters then begin with a sign that tells them from these texts. */
  readonly textOf?: (member: T) => string | number | undefined;
  /** Returns the color of a mark or cluster, or `undefined` for the map's color. */
  readonly colorOf: (members: readonly T[]) => Tone | undefined;
  /** Called to open a single mark. If omitted, the mark's card is shown. */
  readonly open?: ((member: T) => void) | undefined;
  /** Renders the card of the marks at one point. `members` is cut off if there are many. */
  readonly card: (members: readonly T[], count: number) => ComponentChildren;
}

/**
 * A map of many marks. Nearby marks form a cluster that shows their number. A click or Enter zooms
 * into a cluster until its marks separate, or opens a mark's card. Tab moves to one visible mark.
 * From there, arrow keys move between marks, largest cluster first.
 */
export function ClusterMap<T>(props: ClusterMapProps<T>) {
  const { label, marks, inView, tone, courier } = props;
  const clustersIn = useMemo(() => createClusters(marks), [marks]);
  const view = useRef<MapView>(undefined);
  const [shown, setShown] = useState<readonly Cluster<T>[]>([]);
  const [open, setOpen] = useOpen(shown, [inView, tone]);
  const list = useRef<HTMLUListElement>(null);
  const draw = (map: MapView) => {
    view.current = map;
    const next = clustersIn(map.part());
    setShown((before) => (keysOf(before) === keysOf(next) ? before : next));
    positionMarks(list.current, map);
  };
  // Update the clusters when the marks change, because the map reports only its own movements.
  useLayoutEffect(() => {
    if (view.current) setShown(clustersIn(view.current.part()));
  }, [clustersIn]);
  const focus = useFocusInList(list, shown);
  useLayoutEffect(() => {
    if (view.current) positionMarks(list.current, view.current);
  }, [shown]);
  const choose = (cluster: Cluster<T>) => {
    const worldSize = cluster.worldSize();
    if (cluster.count === 1 && props.open) return props.open(cluster.members()[0]!);
    if (worldSize === undefined) return setOpen(cluster.key);
    setOpen(undefined);
    focus.onNext();
    view.current?.bringNear(cluster, worldSize);
  };
  const close = () => {
    setOpen(undefined);
    focus.on(open);
  };
  return (
    <CoverageMap label={label} inView={inView} courier={courier} onDraw={draw}>
      <ul ref={list} class={`marks ${tone}`} aria-label="In view, largest first" onKeyDown={focus.onKeyDown}>
        {shown.map((cluster, i) => (
          <MarkButton
            key={cluster.key}
            cluster={cluster}
            name={props.nameOf(cluster)}
            text={textOn(cluster, props.textOf)}
            colour={props.colorOf(cluster.members(Infinity))}
            isReached={focus.isReached(cluster, i)}
            isOpen={isOnePoint(cluster) ? cluster === open : undefined}
            choose={() => choose(cluster)}
          />
        ))}
      </ul>
      {open && (
        <Card key={open.key} name={props.nameOf(open)} close={close}>
          {props.card(open.members(), open.count)}
        </Card>
      )}
    </CoverageMap>
  );
}

function textOn<T>({ count, members }: Cluster<T>, textOf: ClusterMapProps<T>["textOf"]) {
  return count === 1 ? textOf?.(members()[0]!) : (textOf ? "×" : "") + numberText(count);
}

/** Tracks the cluster whose card is open, until the cluster disappears or an input changes. */
function useOpen<T>(shown: readonly Cluster<T>[], inputs: readonly unknown[]) {
  const [openKey, setOpenKey] = useState<string>();
  const open = shown.find((cluster) => cluster.key === openKey && isOnePoint(cluster));
  useEffect(() => setOpenKey(undefined), inputs);
  // Forget the card of a mark that disappeared, so that it stays closed if the mark returns.
  useEffect(() => {
    if (open === undefined) setOpenKey(undefined);
  }, [open]);
  return [open, setOpenKey] as const;
}

/** Returns a key that is equal for equal lists of clusters. */
function keysOf(clusters: readonly Cluster<unknown>[]): string {
  return clusters.map(({ key, count }) => `${key} ${count}`).join();
}

/** Whether all marks of the cluster share one point, so that zooming cannot separate them. */
function isOnePoint({ worldSize }: Cluster<unknown>): boolean {
  return worldSize() === undefined;
}

function MarkButton(props: {
  readonly cluster: Cluster<unknown>;
  readonly name: string;
  readonly text: string | number | undefined;
  readonly colour: Tone | undefined;
  readonly isReached: boolean;
  /** Whether the mark's card is open, or `undefined` if there is no card. */
  readonly isOpen: boolean | undefined;
  readonly choose: () => void;
}) {
  const { key, lat, lng, count } = props.cluster;
  return (
    <li data-lat={lat} data-lng={lng}>
      <button
        type="button"
        class={`mark size-${Math.min(String(props.text ?? "").length, 4)} ${props.colour ?? ""}`}
        data-key={key}
        data-own-keys
        tabIndex={props.isReached ? 0 : -1}
        // The accessible name must contain the visible text.
        aria-label={count === 1 && props.text !== undefined ? `${props.text} ${props.name}` : props.name}
        aria-expanded={props.isOpen}
        onClick={props.choose}
      >
        {props.text}
      </button>
    </li>
  );
}

/** A mark's card in a corner of the map. Takes the focus. Escape closes it. */
function Card(props: { readonly name: string; readonly close: () => void; readonly children: ComponentChildren }) {
  const card = useRef<HTMLElement>(null);
  useEffect(() => card.current?.focus(), []);
  return (
    <section
      ref={card}
      class="map-card"
      tabIndex={-1}
      data-own-keys
      aria-label={props.name}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        props.close();
      }}
    >
      <IconButton sign="×" label="Close" onClick={props.close} />
      {props.children}
    </section>
  );
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
};

/** Implements a roving tab index: arrow keys, Home and End move within the list. */
function useFocusInList(list: { readonly current: HTMLUListElement | null }, shown: readonly Cluster<unknown>[]) {
  const [reached, setReached] = useState<string>();
  const isWanted = useRef(false);
  const buttons = () => [...(list.current?.querySelectorAll<HTMLElement>("button") ?? [])];
  const focusOn = (button: HTMLElement | undefined) => {
    setReached(button?.dataset["key"]);
    button?.focus({ preventScroll: true });
  };
  useLayoutEffect(() => {
    if (!isWanted.current) return;
    isWanted.current = false;
    focusOn(buttons()[0]);
  }, [shown]);
  const isThere = shown.some(({ key }) => key === reached);
  return {
    isReached: ({ key }: Cluster<unknown>, i: number) => (isThere ? key === reached : i === 0),
    /** Moves the focus to the next rendered element, because the focused one disappears. */
    onNext: () => (isWanted.current = true),
    on: (cluster: Cluster<unknown> | undefined) =>
      focusOn(buttons().find(({ dataset }) => dataset["key"] === cluster?.key) ?? buttons()[0]),
    onKeyDown(event: KeyboardEvent) {
      const all = buttons();
      const at = all.indexOf(event.target as HTMLElement);
      const to = { Home: 0, End: all.length - 1 }[event.key] ?? at + (STEPS[event.key] ?? NaN);
      if (Number.isNaN(to)) return;
      event.preventDefault();
      focusOn(all[(to + all.length) % all.length]);
    },
  };
}
