import { arcBetween, radians } from "./geo.ts";

/** A place to measure from: longitude and latitude in radians, and what is needed of them often. */
export interface Target {
  readonly lng: number;
  readonly lat: number;
  readonly sinLat: number;
  readonly cosLat: number;
}

/** The target at a longitude and latitude in degrees. */
export function targetAt(lng: number, lat: number): Target {
  const phi = radians(lat);
  return { lng: radians(lng), lat: phi, sinLat: Math.sin(phi), cosLat: Math.cos(phi) };
}

/**
 * The arc from a target to the nearest place of a box of longitudes and latitudes; all in radians, 0 within the box.
 *
 * That place is on the meridian of the box that is the fewest degrees away. Along a meridian the cosine of the arc is
 * sin φ₀ sin φ + cos φ₀ cos Δλ cos φ, which is greatest at the latitude φ whose tangent is tan φ₀ / cos Δλ, or where Δλ
 * is beyond a right angle, at an end.
 */
export function arcToBox(
  target: Target,
  west: number,
  south: number,
  east: number,
  north: number,
): number {
  const { lat } = target;
  const eastward = lngGap(target.lng, west, east);
  if (eastward > Math.PI / 2) {
    return Math.min(arcBetween(lat, south, eastward), arcBetween(lat, north, eastward));
  }
  const nearest = Math.atan2(target.sinLat, target.cosLat * Math.cos(eastward));
  return arcBetween(lat, clamp(nearest, south, north), eastward);
}

/** How far a longitude is from the nearest one between two others, either way round; 0 to π. */
function lngGap(lng: number, west: number, east: number): number {
  if (west <= lng && lng <= east) return 0;
  return Math.min(wholeTurn(west - lng), wholeTurn(lng - east));
}

/** An angle from −2π to 2π as one from 0 to 2π. */
function wholeTurn(angle: number): number {
  return angle < 0 ? angle + 2 * Math.PI : angle;
}

/**
 * The arc from a target to the nearest place of an edge, a straight line in longitude and latitude (RFC 7946, 3.1.1) of
 * at most a degree of each; all in radians. Never too short, since it is measured to a place on the edge.
 *
 * That place is where the great circle along the edge passes the target. The edge bends away from its great circle, so
 * the second look starts where the first one led.
 */
export function arcToShortEdge(
  target: Target,
  fromLng: number,
  fromLat: number,
  toLng: number,
  toLat: number,
): number {
  const eastward = toLng - fromLng;
  const northward = toLat - fromLat;
  let share = 0.5;
  for (let look = 0; look < 2; look++) {
    const lng = fromLng + eastward * share;
    const lat = fromLat + northward * share;
    share = clamp(share + shareAhead(target, lng, lat, eastward, northward), 0, 1);
  }
  return arcBetween(
    target.lat,
    fromLat + northward * share,
    fromLng + eastward * share - target.lng,
  );
}

/**
 * How far ahead of a place the great circle in an edge's direction passes a target, as a share of the edge: the
 * along-track distance, atan2(t · e, t · p), with t, p and e the vectors of the target, the place and the direction.
 */
function shareAhead(
  target: Target,
  lng: number,
  lat: number,
  eastward: number,
  northward: number,
): number {
  const sinLat = Math.sin(lat);
  const cosLat = Math.cos(lat);
  const across = target.cosLat * Math.cos(target.lng - lng);
  const east = target.cosLat * Math.sin(target.lng - lng);
  const north = target.sinLat * cosLat - across * sinLat;
  const up = target.sinLat * sinLat + across * cosLat;

  const length = Math.sqrt((eastward * cosLat) ** 2 + northward ** 2);
  if (length === 0) return 0;
  const along = (eastward * cosLat * east + northward * north) / length;
  return Math.atan2(along, up) / length;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
