import type { Zone } from "../../../domain/coverage/coverage.ts";
import { haversineKm, type Polygon, type Position, type Ring } from "../../../domain/coverage/geo.ts";
import { boundsOf, packPolygons } from "../../../domain/coverage/packed-polygons.ts";
import { simplifyPolygons } from "../../../domain/coverage/simplify-polygons.ts";

/** Supported tolerances in meters: 0, and 1, 2 and 5 times powers of ten. */
const TOLERANCES_M = [0, ...[0, 1, 2, 3, 4].flatMap((n) => [1, 2, 5].map((it) => it * 10 ** n))];
TOLERANCES_M.push(100_000);

/** Returns the largest supported tolerance that does not exceed the requested one, in meters. */
export function roundedToleranceM(requestedM: number): number {
  return TOLERANCES_M.findLast((toleranceM) => toleranceM <= requestedM) ?? 0;
}

/**
 * Returns valid zones as the text of a GeoJSON FeatureCollection (RFC 7946). Each zone is a Feature with its id, and
 * with its name as the only property. Outer rings run counterclockwise and holes clockwise. Positions have no
 * altitude.
 *
 * @param toleranceM maximum distance between simplified and original outlines (see `simplifyPolygons`), 0 for the
 *   original outlines. Polygons and holes up to this size are omitted, except the largest polygon of a zone
 */
export function coverageDocument(zones: readonly Zone[], toleranceM: number): string {
  const shown = toleranceM === 0 ? zones : simplifyZones(zones, toleranceM);
  const features = shown.map(({ id, name, polygons }) => ({
    type: "Feature",
    id,
    properties: { name },
    geometry: geometryOf(polygons.map((polygon) => polygon.map(wound))),
  }));
  return JSON.stringify({ type: "FeatureCollection", features });
}

function geometryOf(polygons: readonly Polygon[]): object {
  return polygons.length === 1
    ? { type: "Polygon", coordinates: polygons[0] }
    : { type: "MultiPolygon", coordinates: polygons };
}

/** Simplifies all zones together, because they share borders. */
function simplifyZones(zones: readonly Zone[], toleranceM: number): Zone[] {
  const large = zones.map((zone) => withoutSpecks(zone, toleranceM));
  const simplified = simplifyPolygons(
    large.flatMap((zone) => zone.polygons),
    toleranceM,
  );
  let next = 0;
  return large.map((zone) => {
    const polygons = simplified.slice(next, next + zone.polygons.length);
    next += polygons.length;
    return { ...zone, polygons };
  });
}

/** Removes polygons and holes up to the size of the tolerance, except the zone's largest polygon. */
function withoutSpecks(zone: Zone, toleranceM: number): Zone {
  const isLarge = (ring: Ring) => extentM(ring) > toleranceM;
  const extents = zone.polygons.map(([outer]) => extentM(outer as Ring));
  const largest = extents.indexOf(Math.max(...extents));
  const polygons = zone.polygons
    .filter((_, i) => i === largest || extents[i]! > toleranceM)
    .map(([outer, ...holes]) => [outer as Ring, ...holes.filter(isLarge)]);
  return { ...zone, polygons };
}

/** Returns the diagonal of a ring's bounding box, in meters. */
function extentM(ring: Ring): number {
  const { coordinates } = packPolygons([[ring]]);
  const { west, south, east, north } = boundsOf(coordinates, 0, coordinates.length);
  // Measures the side of the box nearer to the equator, which is longer.
  const lat = Math.abs(south) < Math.abs(north) ? south : north;
  const eastKm = haversineKm({ lat, lng: west }, { lat, lng: east });
  const northKm = haversineKm({ lat: south, lng: west }, { lat: north, lng: west });
  return Math.hypot(eastKm, northKm) * 1000;
}

/**
 * Returns a ring without altitudes, counterclockwise for the outer ring and clockwise for holes (RFC 7946, 3.1.6).
 */
function wound(ring: Ring, index: number): Position[] {
  const positions = ring.map(([lng, lat]) => [lng as number, lat as number]);
  const isOuter = index === 0;
  return isAnticlockwise(positions) === isOuter ? positions : positions.toReversed();
}

/** Uses the sign of the area, computed relative to the first position to limit rounding errors. */
function isAnticlockwise(ring: readonly Position[]): boolean {
  const [x, y] = ring[0] as readonly [number, number];
  let doubleArea = 0;
  for (const [i, to] of ring.entries()) {
    const [fromLng, fromLat] = ring.at(i - 1) as readonly [number, number];
    const [toLng, toLat] = to as readonly [number, number];
    doubleArea += (fromLng - x) * (toLat - y) - (toLng - x) * (fromLat - y);
  }
  return doubleArea > 0;
}
