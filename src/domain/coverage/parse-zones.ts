import type { EdgeVisits } from "./edge-index.ts";
import { MAX_EDGE_VISITS, polygonError } from "./polygon-error.ts";
import { ringError } from "./ring-error.ts";
import type { Zone } from "./coverage.ts";
import { createTariffFaults, isObject, quoted, type TariffFault, type TariffFaults } from "../faults.ts";
import type { Polygon } from "./geo.ts";
import { identifyZones } from "./zone-identities.ts";

export const MAX_ZONES = 100_000;

export const MAX_POSITIONS = 5_000_000;

export const TOO_MANY_POSITIONS = `the zones have more than ${MAX_POSITIONS} positions; simplify them`;

/**
 * Parses a GeoJSON FeatureCollection (RFC 7946) of Polygons and MultiPolygons into zones and adds every error to
 * `faults`. Errors in the collection come first, with the path `zones`. The errors of each zone follow: its id and
 * name (see `identifyZones`), then the first shape error of each polygon, with a path such as `zones[3].geometry`.
 *
 * The zones share their positions with the document. The result is valid only if no error was added.
 *
 * @param visits work limit of the shape checks (see `polygonError`)
 */
export function parseZones(
  document: unknown,
  faults: TariffFaults,
  visits: EdgeVisits = { left: MAX_EDGE_VISITS },
): Zone[] {
  const features = parseFeatures(document, faults);
  const ofIdentities = createTariffFaults(faults.limit);
  const identities = identifyZones(features, ofIdentities);
  let reported = 0;
  /** Adds the id and name errors of all zones up to `upToZone`, so that errors are listed zone by zone. */
  const addIdentityFaults = (upToZone: number) => {
    for (let it; (it = ofIdentities.list[reported]) && zoneOf(it) <= upToZone; reported++) {
      faults.add(it.path, it.text);
    }
  };
  let positions = 0;
  const zones: Zone[] = [];
  for (const [index, feature] of features.entries()) {
    addIdentityFaults(index);
    positions += countPositions(feature);
    if (positions > MAX_POSITIONS) {
      faults.add("zones", TOO_MANY_POSITIONS);
    }
    if (faults.full || positions > MAX_POSITIONS || visits.left <= 0) break;
    const polygons = parsePolygons(feature, `zones[${index}]`, faults, visits);
    zones.push({ ...identities[index]!, polygons });
  }
  addIdentityFaults(Infinity);
  return zones;
}

/** Returns the zone index from the path of an error, such as 3 from `zones[3].id`. */
function zoneOf({ path }: TariffFault): number {
  return Number.parseInt(path.slice("zones[".length), 10);
}

/** Returns the zones of a document that `parseZones` has validated before. Does not check their shapes again. */
export function validZones(document: unknown): Zone[] {
  const { features } = document as { readonly features: readonly { geometry: ValidGeometry }[] };
  const identities = identifyZones(features, createTariffFaults(0));
  return features.map(({ geometry: { type, coordinates } }, i) => ({
    ...identities[i]!,
    polygons: type === "Polygon" ? [coordinates] : coordinates,
  }));
}

type ValidGeometry =
  | { readonly type: "Polygon"; readonly coordinates: Polygon }
  | { readonly type: "MultiPolygon"; readonly coordinates: Polygon[] };

function parseFeatures(document: unknown, faults: TariffFaults): readonly unknown[] {
  if (!isObject(document) || document.type !== "FeatureCollection") {
    faults.add("zones", 'must be a GeoJSON object of type "FeatureCollection"');
    return [];
  }
  const { features } = document;
  if (!Array.isArray(features)) {
    faults.add("zones", `features must be a list of GeoJSON features; it is ${quoted(features)}`);
    return [];
  }
  if (features.length > MAX_ZONES) {
    faults.add("zones", `has ${features.length} features; at most ${MAX_ZONES} are allowed`);
    return [];
  }
  return features;
}

/** Counts the positions of a feature before validation, so that the limit also applies to invalid shapes. */
function countPositions(feature: unknown): number {
  const geometry = isObject(feature) ? feature.geometry : undefined;
  const coordinates = isObject(geometry) ? geometry.coordinates : undefined;
  return countAtDepth(coordinates, isObject(geometry) && geometry.type === "MultiPolygon" ? 3 : 2);
}

function countAtDepth(list: unknown, depth: number): number {
  if (!Array.isArray(list)) return 0;
  if (depth === 1) return list.length;
  return list.reduce((count: number, item) => count + countAtDepth(item, depth - 1), 0);
}

function parsePolygons(feature: unknown, path: string, faults: TariffFaults, visits: EdgeVisits): readonly Polygon[] {
  if (!isObject(feature) || feature.type !== "Feature") {
    faults.add(path, 'must be a GeoJSON object of type "Feature"');
    return [];
  }
  return parseGeometry(feature.geometry, `${path}.geometry`, faults, visits);
}

function parseGeometry(geometry: unknown, path: string, faults: TariffFaults, visits: EdgeVisits): readonly Polygon[] {
  const { type, coordinates } = isObject(geometry) ? geometry : {};
  if (type === "Polygon") {
    checkPolygon({ rings: coordinates, ofPolygon: "", path }, faults, visits);
    return [coordinates as Polygon];
  }
  if (type !== "MultiPolygon") {
    faults.add(path, `must be a GeoJSON Polygon or MultiPolygon; its type is ${quoted(type)}`);
    return [];
  }
  if (!Array.isArray(coordinates) || coordinates.length === 0) {
    faults.add(path, "coordinates must be a list of at least one polygon");
    return [];
  }
  for (const [i, polygon] of coordinates.entries()) {
    if (faults.full || visits.left <= 0) break;
    checkPolygon({ rings: polygon, ofPolygon: ` of polygon ${i + 1}`, path }, faults, visits);
  }
  return coordinates as Polygon[];
}

/** Adds the first error in a ring or, if all rings are valid, the first error in the whole shape. */
function checkPolygon(
  { rings, ofPolygon, path }: { rings: unknown; ofPolygon: string; path: string },
  faults: TariffFaults,
  visits: EdgeVisits,
): void {
  if (!Array.isArray(rings) || rings.length === 0) {
    faults.add(path, `the coordinates${ofPolygon} must be a list of at least one ring`);
    return;
  }
  for (const [i, ring] of rings.entries()) {
    const error = ringError(ring);
    if (error === undefined) continue;
    faults.add(path, `${i === 0 ? "the outer ring" : `hole ${i}`}${ofPolygon} ${error}`);
    return;
  }
  const error = polygonError(rings as Polygon, visits);
  if (error !== undefined) faults.add(path, ofPolygon ? `in${ofPolygon.slice(3)}, ${error}` : error);
}
