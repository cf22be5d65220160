import { degreesFrom, numberFrom } from "../ui/format.ts";
import type { LatLng } from "../map/map-geometry.ts";
import { placeIn } from "./place-text.ts";

export const ROUTE_FIELDS = [
  "pickup_lat",
  "pickup_lng",
  "dropoff_lat",
  "dropoff_lng",
  "weight_kg",
] as const;

/** A route and a weight as they are typed: degrees and kilograms. */
export type RouteText = Readonly<Record<(typeof ROUTE_FIELDS)[number], string>>;

export type End = "pickup" | "dropoff";

/** A route as requests have it; what is not a number is NaN, what is not typed is undefined. */
export function routeOf(route: RouteText) {
  return {
    pickupLat: degreesFrom(route.pickup_lat),
    pickupLng: degreesFrom(route.pickup_lng),
    dropoffLat: degreesFrom(route.dropoff_lat),
    dropoffLng: degreesFrom(route.dropoff_lng),
    weightKg: numberFrom(route.weight_kg),
  };
}

export function isComplete(route: RouteText): boolean {
  return Object.values(routeOf(route)).every((number) => Number.isFinite(number));
}

/** Where an end of the route is; undefined as long as that is no place on the sphere. */
export function placeOf(route: RouteText, end: End): LatLng | undefined {
  const lat = degreesFrom(route[`${end}_lat`]) ?? NaN;
  const lng = degreesFrom(route[`${end}_lng`]) ?? NaN;
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { lat, lng } : undefined;
}

export function fieldsAt(end: End, { lat, lng }: LatLng) {
  return { [`${end}_lat`]: String(lat), [`${end}_lng`]: String(lng) } as Partial<RouteText>;
}

/** What typing into a field changes: both coordinates when a place was pasted into one field. */
export function typed(end: End, field: "lat" | "lng", text: string): Partial<RouteText> {
  const place = placeIn(text);
  return place === undefined ? { [`${end}_${field}`]: text } : fieldsAt(end, place);
}
