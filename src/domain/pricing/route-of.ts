import type { Route } from "./pricing.ts";

/** The fields that describe a route in every request. */
interface RouteFields {
  readonly pickupLat: number;
  readonly pickupLng: number;
  readonly dropoffLat: number;
  readonly dropoffLng: number;
  readonly weightKg: number;
}

/** The route of a request. */
export function routeOf(fields: RouteFields): Route {
  return {
    pickup: { lat: fields.pickupLat, lng: fields.pickupLng },
    dropoff: { lat: fields.dropoffLat, lng: fields.dropoffLng },
    weightKg: fields.weightKg,
  };
}
