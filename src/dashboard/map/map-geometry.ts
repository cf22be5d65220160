import { geoArea, geoBounds, geoMercator, type GeoProjection } from "d3-geo";
import type { Feature, FeatureCollection, MultiPolygon, Polygon, Position } from "geojson";

/** A zone of a tariff: a part of the sphere with a name. */
export type Zone = Feature<Polygon | MultiPolygon, { readonly name?: string } | null>;

/** The zones of a tariff, as GeoJSON. */
export type Zones = FeatureCollection<Polygon | MultiPolygon, { readonly name?: string } | null>;

/** A point on the sphere, in degrees. */
export interface LatLng {
  readonly lat: number;
  readonly lng: number;
}

/** To about ten centimetres, which no address is more exact than. */
export function rounded({ lat, lng }: LatLng): LatLng {
  return { lat: Math.round(lat * 1e6) / 1e6, lng: Math.round(lng * 1e6) / 1e6 };
}

/** A hemisphere, in steradians: no ring of a zone encloses more. */
const HEMISPHERE = 2 * Math.PI;

/**
 * Turns every ring the way that d3-geo wants, clockwise around what it encloses (RFC 7946, section
 * 3.1.6, asks for the opposite), however it came.
 */
export function rewind(zones: Zones): Zones {
  const features = zones.features.map((zone) => ({ ...zone, geometry: rewound(zone.geometry) }));
  return { ...zones, features };
}

function rewound(geometry: Polygon | MultiPolygon): Polygon | MultiPolygon {
  return geometry.type === "Polygon"
    ? { ...geometry, coordinates: rewindPolygon(geometry.coordinates) }
    : { ...geometry, coordinates: geometry.coordinates.map(rewindPolygon) };
}

/** The first ring is the outline, the others are holes. */
function rewindPolygon(rings: readonly Position[][]): Position[][] {
  return rings.map((ring, i) => {
    const isInside = geoArea({ type: "Polygon", coordinates: [ring] }) <= HEMISPHERE;
    return isInside === (i === 0) ? ring : ring.toReversed();
  });
}

/** How far around a point there is at least something to be seen, in degrees. */
const AROUND = 0.01;

/**
 * A Mercator projection that shows all points, or all zones where there are none, within a frame of
 * this size; its middle is turned to the middle of the map, so that the date line cuts nothing.
 */
export function fitProjection(
  zones: readonly Zones[],
  points: readonly LatLng[],
  { width, height }: { readonly width: number; readonly height: number },
): GeoProjection {
  const features = zones.flatMap((document) => document.features);
  const projection = geoMercator();
  if (points.length + features.length === 0) {
    return projection.fitSize([width, height], { type: "Sphere" });
  }
  const target =
    points.length > 0 ? pointsAround(points) : { type: "FeatureCollection" as const, features };
  const [[west], [east]] = geoBounds(target);
  const middle = west <= east ? (west + east) / 2 : (west + east + 360) / 2;
  const margin = Math.min(width, height) * 0.08;
  return projection.rotate([-middle, 0]).fitExtent(
    [
      [margin, margin],
      [width - margin, height - margin],
    ],
    target,
  );
}

function pointsAround(points: readonly LatLng[]) {
  const coordinates = points.flatMap(({ lat, lng }) => [
    [lng - AROUND, lat - AROUND],
    [lng + AROUND, lat + AROUND],
  ]);
  return { type: "MultiPoint" as const, coordinates };
}
