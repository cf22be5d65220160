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
  const document = JSON.parse(text) as { readonly features: readonly object[] };
  const features = document.features.map((feature, i) => {
    if (index !== undefined && index !== i) return feature;
    const { properties } = feature as { readonly properties?: Record<string, unknown> | null };
    const { schedule: _, ...others } = properties ?? {};
    return { ...feature, properties: schedule === "" ? others : { ...others, schedule } };
  });
  return JSON.stringify({ ...document, features });
}
