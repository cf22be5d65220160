import type { Zone, Zones } from "../map/map-geometry.ts";

export interface ListedZone {
  /** Index in the document, from 0. */
  readonly index: number;
  readonly name: string;
  /** Name of the zone's schedule, or `undefined` if it has none. */
  readonly schedule: string | undefined;
  /** The zone's shape, or `undefined` if its outline is invalid. */
  readonly zone: Zone | undefined;
}

/** The part of a zone document that can be shown. A draft's document can have any fault. */
export interface ZoneDocument {
  readonly listed: readonly ListedZone[];
  readonly zones: Zones;
  /** Whether the text is GeoJSON with a list of features. */
  readonly isReadable: boolean;
}

export const NO_ZONES: ZoneDocument = {
  listed: [],
  zones: { type: "FeatureCollection", features: [] },
  isReadable: true,
};

/** Parses a zone document. Never throws: invalid zones are listed without an outline. */
export function readZoneDocument(text: string): ZoneDocument {
  const features = featuresOf(text);
  if (features === undefined) return { ...NO_ZONES, isReadable: false };
  const listed = features.map(listedZone);
  const drawn = listed.flatMap(({ zone }) => (zone ? [zone] : []));
  return { listed, zones: { type: "FeatureCollection", features: drawn }, isReadable: true };
}

function featuresOf(text: string): readonly unknown[] | undefined {
  try {
    const { features } = JSON.parse(text) as { readonly features?: unknown };
    return Array.isArray(features) ? features : undefined;
  } catch {
    return undefined;
  }
}

/** Properties that can hold a zone's name, in the service's order of precedence. */
const NAMES = ["name", "Name", "NAME", "title"];

function listedZone(feature: unknown, index: number): ListedZone {
  const { properties, geometry } = (feature ?? {}) as Record<string, Record<string, unknown>>;
  const names = NAMES.map((key) => properties?.[key]).filter((name) => typeof name === "string");
  const name = names.find((text) => text.trim() !== "") ?? `Zone ${index + 1}`;
  const schedule =
    typeof properties?.schedule === "string" && properties.schedule !== "" ? properties.schedule : undefined;
  if (!isDrawable(geometry)) return { index, name, schedule, zone: undefined };
  return { index, name, schedule, zone: { type: "Feature", properties: { name }, geometry } };
}

function isDrawable(geometry: Record<string, unknown> | undefined): geometry is never {
  const { type, coordinates } = geometry ?? {};
  if (type === "Polygon") return isPolygon(coordinates);
  return type === "MultiPolygon" && isListOf(coordinates, isPolygon);
}

function isPolygon(rings: unknown): boolean {
  return isListOf(rings, (ring) => isListOf(ring, isPosition) && (ring as []).length >= 4);
}

function isPosition(position: unknown): boolean {
  return isListOf(position, Number.isFinite) && (position as []).length >= 2;
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((item) => isItem(item));
}

/**
 * Returns the document's text with the schedule of one or all zones replaced. An empty name removes the schedule.
 *
 * @param index index of the zone; `undefined` for all zones
 * @throws SyntaxError if the text is not JSON
 */
export function withSchedule(text: string, index: number | undefined, schedule: string): string {
  return withFeatures(text, (features) =>
    features.map((feature, i) => {
      if (index !== undefined && index !== i) return feature;
      const { schedule: _, ...others } = feature.properties ?? {};
      return { ...feature, properties: schedule === "" ? others : { ...others, schedule } };
    }),
  );
}

/**
 * Returns the document's text with the shape of a zone replaced, or with a new zone at the end. Other data is kept.
 *
 * @param index index of the zone; the number of zones for a new one
 * @param name new name; `undefined` if unchanged
 */
export function withZone(
  text: string,
  index: number,
  zone: { readonly name: string | undefined; readonly geometry: Zone["geometry"] },
): string {
  const { name, geometry } = zone;
  return withFeatures(text, (features) => {
    const feature = features[index] ?? { type: "Feature", properties: {} };
    const properties = name === undefined ? feature.properties : { ...feature.properties, name };
    return features.toSpliced(index, 1, { ...feature, properties, geometry });
  });
}

export function withoutZone(text: string, index: number): string {
  return withFeatures(text, (features) => features.toSpliced(index, 1));
}

/**
 * Returns the document's text with the zones of another document added at the end.
 *
 * @throws SyntaxError or TypeError if one of them is not a FeatureCollection
 */
export function withZonesOf(text: string, other: string): string {
  const added = (JSON.parse(other) as ZoneFeatures).features;
  return withFeatures(text, (features) => [...features, ...added]);
}

interface ZoneFeature {
  readonly properties?: Readonly<Record<string, unknown>> | null | undefined;
  readonly geometry?: unknown;
}

interface ZoneFeatures {
  readonly features: readonly ZoneFeature[];
}

/** Changes the features of a document. An empty text is an empty document. */
function withFeatures(text: string, change: (features: readonly ZoneFeature[]) => readonly object[]): string {
  const document = JSON.parse(text || '{"type":"FeatureCollection","features":[]}') as ZoneFeatures;
  return JSON.stringify({ ...document, features: change(document.features) });
}
