import type { Feature, FeatureCollection, MultiPolygon, Polygon } from "geojson";

/** A zone of a tariff: an area on the sphere with a name. */
export type Zone = Feature<Polygon | MultiPolygon, { readonly name?: string } | null>;

/** The zones of a tariff as GeoJSON. */
export type Zones = FeatureCollection<Polygon | MultiPolygon, { readonly name?: string } | null>;

/** A point on the sphere, in degrees. */
export interface LatLng {
  readonly lat: number;
  readonly lng: number;
}

/** A position on a map, in CSS pixels from its upper left corner. */
export type Spot = readonly [x: number, y: number];

/** A part of the world: its edges in degrees, and the side length of the world in pixels. */
export interface WorldPart {
  readonly edges: readonly [number, number, number, number];
  readonly worldSize: number;
}

/** Rounds to about 10 centimeters, because no address is more precise. */
export function rounded({ lat, lng }: LatLng): LatLng {
  return { lat: Math.round(lat * 1e6) / 1e6, lng: Math.round(lng * 1e6) / 1e6 };
}

/** Formats a point with a precision of about a meter. */
export function pointText({ lat, lng }: LatLng): string {
  return `${lat.toFixed(5)}, ${lng.toFixed(5)}`;
}
