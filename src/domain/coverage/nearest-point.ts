import { arcBetween, radians } from "./geo.ts";

/** A point from which arcs are measured, in radians, with precomputed values. */
export interface Target {
  readonly lng: number;
  readonly lat: number;
  readonly sinLat: number;
  readonly cosLat: number;
}

/** Creates a target at a longitude and latitude in degrees. */
export function targetAt(lng: number, lat: number): Target {
  const phi = radians(lat);
  return { lng: radians(lng), lat: phi, sinLat: Math.sin(phi), cosLat: Math.cos(phi) };
}

/**
 * Returns the arc from a target to the nearest point of a longitude and latitude box. All values are in radians. The
 * arc is 0 inside the box.
 *
 * The nearest point is on the box's meridian with the smallest longitude difference Δλ. Along a meridian, the cosine
 * of the arc is sin φ₀ sin φ + cos φ₀ cos Δλ cos φ. Its maximum is at the latitude φ with tan φ = tan φ₀ / cos Δλ, or
 * at an end of the meridian if Δλ exceeds a right angle.
 */
export function arcToBox(target: Target, west: number, south: number, east: number, north: number): number {
  const { lat } = target;
  const eastward = lngGap(target.lng, west, east);
  if (eastward > Math.PI / 2) {
    return Math.min(arcBetween(lat, south, eastward), arcBetween(lat, north, eastward));
  }
  const nearest = Math.atan2(target.sinLat, target.cosLat * Math.cos(eastward));
  return arcBetween(lat, clamp(nearest, south, north), eastward);
}

/**
 * Returns the smallest difference between a longitude and the range from `west` to `east`, in
 * either direction, in radians, 0 to π.
 */
function lngGap(lng: number, west: number, east: number): number {
  if (west <= lng && lng <= east) return 0;
  return Math.min(wholeTurn(west - lng), wholeTurn(lng - east));
}

/** Maps an angle between −2π and 2π to the range 0 to 2π. */
function wholeTurn(angle: number): number {
  return angle < 0 ? angle + 2 * Math.PI : angle;
}

/**
 * Returns the arc from a target to the nearest point of an edge. The edge is a straight line in longitude and
 * latitude (RFC 7946, 3.1.1) that spans at most a degree of each. All values are in radians. The result is never too
 * small, because the arc ends at a point on the edge.
 *
 * The nearest point is estimated as the point where the great circle along the edge passes the target. The edge
 * deviates from its great circle, so a second step starts from the result of the first.
 */
export function arcToShortEdge(target: Target, fromLng: number, fromLat: number, toLng: number, toLat: number): number {
  const eastward = toLng - fromLng;
  const northward = toLat - fromLat;
  let share = 0.5;
  for (let pass = 0; pass < 2; pass++) {
    const lng = fromLng + eastward * share;
    const lat = fromLat + northward * share;
    share = clamp(share + shareAhead(target, lng, lat, eastward, northward), 0, 1);
  }
  return arcBetween(target.lat, fromLat + northward * share, fromLng + eastward * share - target.lng);
}

/**
 * Returns the along-track distance from a point on an edge to the point nearest to the target, as a fraction of the
 * edge: atan2(t · e, t · p), where t, p and e are the vectors of target, point and edge direction.
 */
function shareAhead(target: Target, lng: number, lat: number, eastward: number, northward: number): number {
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

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, value));
}
