/** A point on Earth: latitude −90 to 90 and longitude −180 to 180, in degrees. */
export interface Point {
  readonly lat: number;
  readonly lng: number;
}

/** Longitude and latitude in degrees. An altitude is ignored. */
export type Position = readonly number[];

/** A closed list of positions: the last equals the first. */
export type Ring = readonly Position[];

/** An outer ring and its holes: the coordinates of a GeoJSON Polygon (RFC 7946, 3.1.6). */
export type Polygon = readonly Ring[];

/** IUGG mean radius of the Earth, (2a + b) / 3 of GRS 80 (Moritz 2000), in kilometers. */
export const EARTH_RADIUS_KM = 6371.0088;

/**
 * Returns the great-circle distance between two points on a sphere with the Earth's mean radius, in
 * kilometers, 0 to 20,015.12 (half the circumference).
 */
export function haversineKm(from: Point, to: Point): number {
  const arc = arcBetween(radians(from.lat), radians(to.lat), radians(to.lng - from.lng));
  return EARTH_RADIUS_KM * arc;
}

/**
 * Returns the great-circle arc between two points, given their latitudes and the difference of
 * their longitudes. All angles are in radians, the arc from 0 to π.
 *
 * Formula: haversine, R. W. Sinnott, "Virtues of the Haversine", Sky and Telescope 68 (1984).
 */
export function arcBetween(fromLat: number, toLat: number, eastward: number): number {
  const haversine =
    sineSquared((toLat - fromLat) / 2) + Math.cos(fromLat) * Math.cos(toLat) * sineSquared(eastward / 2);
  // For antipodes, rounding can push the haversine just above 1, where asin returns NaN.
  return 2 * Math.asin(Math.sqrt(Math.min(1, haversine)));
}

export function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

function sineSquared(angle: number): number {
  const sine = Math.sin(angle);
  return sine * sine;
}
