/** A place on the Earth: latitude −90 to 90 and longitude −180 to 180, in degrees. */
export interface Point {
  readonly lat: number;
  readonly lng: number;
}

/** Longitude, latitude, and possibly an altitude that nothing here looks at; degrees. */
export type Position = readonly number[];

/** Positions of which the last equals the first. */
export type Ring = readonly Position[];

/** An outer ring, then its holes: the coordinates of a GeoJSON Polygon (RFC 7946, 3.1.6). */
export type Polygon = readonly Ring[];

/** The IUGG mean radius of the Earth, (2a + b) / 3 of GRS 80 (Moritz 2000), in kilometres. */
const EARTH_RADIUS_KM = 6371.0088;

/**
 * The great-circle distance between two points on a sphere of the mean radius, in kilometres,
 * from 0 to 20,015.12 (half the circumference).
 *
 * Formula: haversine, R. W. Sinnott, "Virtues of the Haversine", Sky and Telescope 68 (1984).
 */
export function haversineKm(from: Point, to: Point): number {
  const fromLat = radians(from.lat);
  const toLat = radians(to.lat);
  const haversine =
    sineSquared((toLat - fromLat) / 2) +
    Math.cos(fromLat) * Math.cos(toLat) * sineSquared(radians(to.lng - from.lng) / 2);
  // Between antipodes rounding lifts the haversine a hair above 1, and beyond 1 asin is NaN.
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.sqrt(Math.min(1, haversine)));
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

function sineSquared(angle: number): number {
  const sine = Math.sin(angle);
  return sine * sine;
}
