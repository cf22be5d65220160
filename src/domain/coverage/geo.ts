/** A place on the Earth: latitude −90 to 90 and longitude −180 to 180, in degrees. */
export interface Point {
  readonly lat: number;
  readonly lng: number;
}

/** Longitude and latitude in degrees, and possibly an altitude, which is ignored. */
export type Position = readonly number[];

/** Positions of which the last equals the first. */
export type Ring = readonly Position[];

/** An outer ring, then its holes: the coordinates of a GeoJSON Polygon (RFC 7946, 3.1.6). */
export type Polygon = readonly Ring[];

/** The IUGG mean radius of the Earth, (2a + b) / 3 of GRS 80 (Moritz 2000), in kilometres. */
export const EARTH_RADIUS_KM = 6371.0088;

/**
 * The great-circle distance between two points on a sphere of the mean radius, in kilometres,
 * from 0 to 20,015.12 (half the circumference).
 */
export function haversineKm(from: Point, to: Point): number {
  const arc = arcBetween(radians(from.lat), radians(to.lat), radians(to.lng - from.lng));
  return EARTH_RADIUS_KM * arc;
}

/**
 * The great-circle arc between two latitudes whose longitudes are `eastward` apart; everything in
 * radians, the arc from 0 to π.
 *
 * Formula: haversine, R. W. Sinnott, "Virtues of the Haversine", Sky and Telescope 68 (1984).
 */
export function arcBetween(fromLat: number, toLat: number, eastward: number): number {
  const haversine =
    sineSquared((toLat - fromLat) / 2) +
    Math.cos(fromLat) * Math.cos(toLat) * sineSquared(eastward / 2);
  // Between antipodes rounding can lift the haversine just above 1, and beyond 1 asin is NaN.
  return 2 * Math.asin(Math.sqrt(Math.min(1, haversine)));
}

export function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

function sineSquared(angle: number): number {
  const sine = Math.sin(angle);
  return sine * sine;
}
