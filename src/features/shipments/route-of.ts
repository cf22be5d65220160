import type { Route } from "../../domain/pricing/pricing.ts";

/** The fields by which every request names a route. */
interface RouteFields {
  readonly pickupLat: number;
  readonly pickupLng: number;
  readonly dropoffLat: number;
  readonly dropoffLng: number;
  readonly weightKg: number;
}

/** The route a request is about. */
export function routeOf(fields: RouteFields): Route {
  return {
    pickup: { lat: fields.pickupLat, lng: fields.pickupLng },
    dropoff: { lat: fields.dropoffLat, lng: fields.dropoffLng },
    weightKg: fields.weightKg,
  };
}
