import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { getDocument } from "../api/documents.ts";
import { type Query, useQuery } from "../api/use-query.ts";
import { changeQuery, useLocation } from "../routes/router.ts";
import { numberText } from "../ui/format.ts";
import { localDate } from "../ui/local-time.ts";
import { QueryView } from "../ui/page.tsx";
import { areaKm2 } from "../map/area.ts";
import { LazyMap, positionMarks } from "../map/lazy-map.tsx";
import type { MapLayer, MapView } from "../map/map-view.ts";
import type { LayerTone } from "../map/palette.ts";
import type { DraftFault } from "./draft-faults.ts";
import { type ListedZone, NO_ZONES, readZoneDocument, type ZoneDocument } from "./zone-document.ts";
import "./tariffs.css";

export function versionZonesPath(version: number): string {
  return `/admin/v1/tariff_versions/${version}/zones`;
}

export interface TariffLayer {
  readonly name: string;
  readonly tone: LayerTone;
  /** Path of the document. `undefined` if there are no zones. */
  readonly path: string | undefined;
  /** Etag of the document. A change reloads the document. */
  readonly etag?: string;
}

/** Loads a layer's zones. Empty without a layer. */
function useZones(layer: TariffLayer | undefined): Query<ZoneDocument> {
  return useQuery(
    async (signal) => (layer?.path ? readZoneDocument(await getDocument(layer.path, signal)) : NO_ZONES),
    [layer?.path, layer?.etag],
  );
}

/**
 * A map of a tariff's zones with their names, optionally above another tariff's zones. The URL
 * holds the marked zone. With two layers, a legend toggles them.
 */
export function TariffMap(props: {
  readonly label: string;
  readonly below?: TariffLayer | undefined;
  readonly layer: TariffLayer;
  /** Renders an editor instead of the map and the names. */
  readonly editor?: ((document: ZoneDocument, layers: readonly MapLayer[]) => ComponentChildren) | undefined;
  /** Errors, each marked at its point. */
  readonly faults?: readonly DraftFault[];
  readonly children?: (document: ZoneDocument) => ComponentChildren;
}) {
  const { below, layer } = props;
  const others = useZones(below);
  const zones = useZones(layer);
  return (
    <QueryView query={others}>
      {(before) => (
        <QueryView query={zones}>
          {(document) => (
            <LoadedMap {...props} layers={[...(below ? [{ ...below, document: before }] : []), { ...layer, document }]}>
              {props.children?.(document)}
            </LoadedMap>
          )}
        </QueryView>
      )}
    </QueryView>
  );
}

type LoadedLayer = TariffLayer & { readonly document: ZoneDocument };

function LoadedMap(
  props: Pick<Parameters<typeof TariffMap>[0], "label" | "editor" | "faults"> & {
    readonly layers: readonly LoadedLayer[];
    readonly children: ComponentChildren;
  },
) {
  const { editor, faults } = props;
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const { document: edited } = props.layers.at(-1)!;
  const { listed } = edited;
  const marked = useMarkedZone(listed);
  const layers = props.layers.map(({ name, tone, document }) => {
    return { zones: document.zones, tone, hidden: hidden.includes(name) };
  });
  const points = useMemo(
    () => (faults ?? []).flatMap(({ point, index }) => (point ? [{ ...point, index }] : [])),
    [faults],
  );
  const list = useRef<HTMLUListElement>(null);
  const view = useRef<MapView>(undefined);
  const drawMarks = () => {
    if (view.current) positionMarks(list.current, view.current);
  };
  useLayoutEffect(drawMarks, [points]);
  const toggle = (name: string) =>
    setHidden(hidden.includes(name) ? hidden.filter((other) => other !== name) : [...hidden, name]);
  return (
    <>
      {layers.length > 1 && <Legend layers={props.layers} hidden={hidden} toggle={toggle} />}
      {editor ? (
        editor(edited, layers)
      ) : (
        <>
          <LazyMap
            {...{ label: props.label, layers, marked }}
            onDraw={(map) => {
              view.current = map;
              drawMarks();
            }}
          >
            <ul ref={list} class="marks" aria-hidden="true">
              {points.map(({ lat, lng, index }) => (
                <li key={`${index} ${lat} ${lng}`} data-lat={lat} data-lng={lng}>
                  <span class="mark bad">!</span>
                </li>
              ))}
            </ul>
          </LazyMap>
          {props.children}
          <ZoneNames listed={listed} />
        </>
      )}
    </>
  );
}

export function Download(props: { readonly path: string; readonly name: string }) {
  return (
    <a class="button" href={props.path} download={`${props.name}-${localDate(new Date(), undefined)}.geojson`}>
      Download GeoJSON
    </a>
  );
}

/** Marks a zone on the page's map by its index in the document. `undefined` clears the mark. */
export function markZone(index: number | undefined): void {
  changeQuery({ zone: index === undefined ? undefined : String(index) }, { replace: true });
}

/** Returns the document index of the zone that the URL marks, or `undefined` if none is marked. */
export function useMarkedIndex(): number | undefined {
  const text = useLocation().query.get("zone");
  return text === null ? undefined : Number(text);
}

function useMarkedZone(listed: readonly ListedZone[]) {
  const index = useMarkedIndex();
  const zone = index === undefined ? undefined : listed[index]?.zone;
  return useMemo(() => zone && { type: "FeatureCollection" as const, features: [zone] }, [zone]);
}

function Legend(props: {
  readonly layers: readonly LoadedLayer[];
  readonly hidden: readonly string[];
  readonly toggle: (name: string) => void;
}) {
  return (
    <fieldset class="legend">
      <legend class="visually-hidden">Shown on the map</legend>
      {props.layers.map(({ name, tone, document }) => (
        <label key={name}>
          <input type="checkbox" checked={!props.hidden.includes(name)} onChange={() => props.toggle(name)} />
          <span class={`swatch ${tone}`} aria-hidden="true" />
          {name} <span class="minor">{sizeText(document)}</span>
        </label>
      ))}
    </fieldset>
  );
}

const areas = new WeakMap<ZoneDocument, number>();

/** Formats the number and the total area of a document's zones. */
function sizeText(document: ZoneDocument): string {
  const { listed, zones } = document;
  const area = areas.get(document) ?? zones.features.reduce((sum, { geometry }) => sum + areaKm2(geometry), 0);
  areas.set(document, area);
  return `${zonesText(listed.length)}, ${areaText(area)}`;
}

/** Formats an area in square kilometers: `1,213 km²`. */
export function areaText(km2: number): string {
  return `${numberText(Number(km2.toPrecision(4)))} km²`;
}

const SHOWN = 100;
/** Maximum number of zones without a search field. */
const FEW = 12;

function ZoneNames({ listed }: { readonly listed: readonly ListedZone[] }) {
  const id = useId();
  const marked = useMarkedIndex();
  const [text, setText] = useState("");
  const part = text.trim().toLowerCase();
  const found = listed.filter(({ name }) => name.toLowerCase().includes(part));
  if (listed.length === 0) return null;
  return (
    <div class="zone-names">
      {(listed.length > FEW || text !== "") && (
        <div class="field">
          <label for={id}>Find a zone</label>
          <input
            id={id}
            type="search"
            autoComplete="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
      )}
      <ul aria-label="Zones" onKeyDown={moveFocus}>
        {found.slice(0, SHOWN).map(({ index, name, zone }, i) => (
          <li key={index}>
            <button
              type="button"
              class="button"
              tabIndex={i === 0 ? 0 : -1}
              aria-pressed={index === marked}
              onClick={() => markZone(index === marked ? undefined : index)}
            >
              {name}
              {zone === undefined && <span class="minor"> (cannot be drawn)</span>}
            </button>
          </li>
        ))}
      </ul>
      <p class="minor" aria-live="polite">
        {found.length > SHOWN
          ? `The first ${SHOWN} of ${zonesText(found.length)}.`
          : found.length === 0 && "No zones match."}
      </p>
    </div>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Moves the focus between the buttons of a list with the arrow keys. Tab reaches only the first one. */
function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const by = STEPS[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  buttons.at((buttons.indexOf(event.target as HTMLButtonElement) + by) % buttons.length)!.focus();
}

/** Formats a number of zones: `1 zone`, `3,143 zones`. */
export function zonesText(count: number): string {
  return `${numberText(count)} ${count === 1 ? "zone" : "zones"}`;
}
