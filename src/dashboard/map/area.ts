import type { MultiPolygon, Polygon, Position } from "geojson";

/** Mean radius of the Earth, in kilometers. */
const EARTH_RADIUS_KM = 6371.0088;

/** Returns the area of a geometry, whatever the direction of its rings, in square kilometers. */
export function areaKm2(geometry: Polygon | MultiPolygon): number {
  const polygons = geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;
  const sum = polygons.reduce((total, [outer, ...holes]) => {
    return total + ringArea(outer!) - holes.reduce((cut, hole) => cut + ringArea(hole), 0);
  }, 0);
  return sum * EARTH_RADIUS_KM ** 2;
}

/**
 * Returns the area of a ring on the unit sphere. Formula: R. G. Chamberlain and W. H. Duquette, "Some Algorithms for
 * Polygons on a Sphere" (2007), which OpenLayers uses too. A library would be loaded before the page's contents.
 */
function ringArea(ring: readonly Position[]): number {
  const sum = ring.slice(1).reduce((total, to, i) => {
    const from = ring[i]!;
    return total + (((to[0]! - from[0]!) * Math.PI) / 180) * (2 + sine(from) + sine(to));
  }, 0);
  return Math.abs(sum / 2);
}

function sine([, lat]: Position): number {
  return Math.sin((lat! * Math.PI) / 180);
}
