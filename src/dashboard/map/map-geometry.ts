import type { Feature, FeatureCollection, MultiPolygon, Polygon } from "geojson";

/** A zone of a tariff: a part of the sphere with a name. */
export type Zone = Feature<Polygon | MultiPolygon, { readonly name?: string } | null>;

/** The zones of a tariff, as GeoJSON. */
export type Zones = FeatureCollection<Polygon | MultiPolygon, { readonly name?: string } | null>;

/** A point on the sphere, in degrees. */
export interface LatLng {
  readonly lat: number;
  readonly lng: number;
}

/** A point on a map, in CSS pixels from its upper left corner. */
export type Spot = readonly [x: number, y: number];

/** A part of the world: its west, south, east and north, and how long the sides of the world are, in pixels. */
export interface WorldPart {
  readonly edges: readonly [number, number, number, number];
  readonly worldSize: number;
}

/** To about ten centimetres, which no address is more exact than. */
export function rounded({ lat, lng }: LatLng): LatLng {
  return { lat: Math.round(lat * 1e6) / 1e6, lng: Math.round(lng * 1e6) / 1e6 };
}
