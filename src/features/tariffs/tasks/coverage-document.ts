import type { Zone } from "../../../domain/coverage/coverage.ts";
import {
  haversineKm,
  type Polygon,
  type Position,
  type Ring,
} from "../../../domain/coverage/geo.ts";
import { boundsOf, packPolygons } from "../../../domain/coverage/packed-polygons.ts";
import { simplifyPolygons } from "../../../domain/coverage/simplify-polygons.ts";

/** The tolerances that documents are made for, in metres: 0, and 1, 2 and 5 times powers of ten. */
const TOLERANCES_M = [0, ...[0, 1, 2, 3, 4].flatMap((n) => [1, 2, 5].map((it) => it * 10 ** n))];
TOLERANCES_M.push(100_000);

/** The largest of these tolerances that is not above the one that is asked for, 0 or more, in metres. */
export function roundedToleranceM(askedM: number): number {
  return TOLERANCES_M.findLast((toleranceM) => toleranceM <= askedM) ?? 0;
}

/**
 * Zones, which must be valid, as the text of a GeoJSON FeatureCollection (RFC 7946): a Feature for each, with its id,
 * and its name as its only property. Outer rings run anticlockwise and holes clockwise; there are no altitudes.
 *
 * @param toleranceM how far outlines may be from the true ones (see `simplifyPolygons`). Holes whose extent is not
 *   larger are left out, and so are polygons, but for the largest of a zone. 0: the true outlines.
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

/** All at once, since zones share borders. */
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

/** A zone without the polygons and holes that are no larger than the tolerance. */
function withoutSpecks(zone: Zone, toleranceM: number): Zone {
  const isLarge = (ring: Ring) => extentM(ring) > toleranceM;
  const extents = zone.polygons.map(([outer]) => extentM(outer as Ring));
  const largest = extents.indexOf(Math.max(...extents));
  const polygons = zone.polygons
    .filter((_, i) => i === largest || extents[i]! > toleranceM)
    .map(([outer, ...holes]) => [outer as Ring, ...holes.filter(isLarge)]);
  return { ...zone, polygons };
}

/** How long the diagonal of a ring's box is, in metres. */
function extentM(ring: Ring): number {
  const { coordinates } = packPolygons([[ring]]);
  const { west, south, east, north } = boundsOf(coordinates, 0, coordinates.length);
  // The side that is nearer to the equator is the longer one.
  const lat = Math.abs(south) < Math.abs(north) ? south : north;
  const eastKm = haversineKm({ lat, lng: west }, { lat, lng: east });
  const northKm = haversineKm({ lat: south, lng: west }, { lat: north, lng: west });
  return Math.hypot(eastKm, northKm) * 1000;
}

/** A ring without altitudes, the outer one anticlockwise, others clockwise (RFC 7946, 3.1.6). */
function wound(ring: Ring, index: number): Position[] {
  const positions = ring.map(([lng, lat]) => [lng as number, lat as number]);
  const isOuter = index === 0;
  return isAnticlockwise(positions) === isOuter ? positions : positions.toReversed();
}

/** By the sign of the area, measured from the first position so that little is lost to rounding. */
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
