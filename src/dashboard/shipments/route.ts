import type { CreateQuoteResponse } from "../../../gen/shipments/v1/quote_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { degreesFrom, numberFrom, numberText } from "../ui/format.ts";
import type { LatLng } from "../map/map-geometry.ts";

export const ROUTE_FIELDS = ["pickup_lat", "pickup_lng", "dropoff_lat", "dropoff_lng", "weight_kg"] as const;

/** A route and weight as typed, in degrees and kilograms. */
export type RouteText = Readonly<Record<(typeof ROUTE_FIELDS)[number], string>>;

/** The two ends of a route, with the pickup first. */
export const ENDS = ["pickup", "dropoff"] as const;

export type End = (typeof ENDS)[number];

/** Returns a value for each end. */
export function atEnds<T>(valueAt: (end: End) => T): Readonly<Record<End, T>> {
  return { pickup: valueAt("pickup"), dropoff: valueAt("dropoff") };
}

/** Returns the location of a shipment's pickup or dropoff. */
export function pointAt(shipment: Shipment, end: End): LatLng {
  return { lat: shipment[`${end}Lat`], lng: shipment[`${end}Lng`] };
}

export function routeTextOf(shipment: Shipment): RouteText {
  return {
    pickup_lat: String(shipment.pickupLat),
    pickup_lng: String(shipment.pickupLng),
    dropoff_lat: String(shipment.dropoffLat),
    dropoff_lng: String(shipment.dropoffLng),
    weight_kg: String(shipment.weightKg),
  };
}

/** Returns a route's request fields. Invalid numbers become NaN, and empty fields become `undefined`. */
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

/** Converts distances of four or more digits in a text from meters to kilometers. */
export function inKilometers(text: string): string {
  return text.replace(/\b\d{4,} m\b/g, (far) => distanceText(parseInt(far, 10))!);
}

function distanceText(meters: number | undefined): string | undefined {
  if (meters === undefined) return undefined;
  return meters < 1_000 ? `${meters} m` : `${numberText(meters / 1_000, 0)} km`;
}

type Outside = Pick<CreateQuoteResponse, "pickupOutsideMeters" | "dropoffOutsideMeters">;

/** Returns the distances of pickup and dropoff from coverage, such as `37 km`. `undefined` if covered. */
export function outsideOf(quote: Outside | undefined) {
  return atEnds((end) => distanceText(quote?.[`${end}OutsideMeters`]));
}

/** Returns the pickup or dropoff point, or `undefined` until its coordinates are valid. */
export function pointOf(route: RouteText, end: End): LatLng | undefined {
  const lat = degreesFrom(route[`${end}_lat`]) ?? NaN;
  const lng = degreesFrom(route[`${end}_lng`]) ?? NaN;
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { lat, lng } : undefined;
}

export function fieldsAt(end: End, { lat, lng }: LatLng) {
  return { [`${end}_lat`]: String(lat), [`${end}_lng`]: String(lng) } as Partial<RouteText>;
}

/** Returns the fields that typing changes. A pasted pair of coordinates changes both. */
export function typed(end: End, field: "lat" | "lng", text: string): Partial<RouteText> {
  const point = pointIn(text);
  return point === undefined ? { [`${end}_${field}`]: text } : fieldsAt(end, point);
}

const NUMBER = String.raw`(-?\d{1,3}(?:\.\d+)?)`;
const DECIMAL = String.raw`(-?\d{1,3}\.\d+)`;

/** A latitude and longitude in the format that maps copy: `40.758, -73.9855`. */
const PAIR = new RegExp(`^\\s*${DECIMAL}\\s*[,;\\s]\\s*${DECIMAL}\\s*$`);

/** Patterns of points in map URLs. Pins come first because they are more exact than the map's center. */
const IN_URLS = [
  // Google: pin.
  new RegExp(`!3d${NUMBER}!4d${NUMBER}`),
  // OpenStreetMap: marker.
  new RegExp(`[?&]mlat=${NUMBER}&mlon=${NUMBER}`),
  // Google, Apple and others: search term or displayed point.
  new RegExp(`[?&](?:q|query|ll|sll|coordinate|destination|center)=(?:loc:)?${NUMBER}(?:,|%2C)${NUMBER}`, "i"),
  // RFC 5870.
  new RegExp(`^geo:${NUMBER},${NUMBER}`),
  // Google: center of the map.
  new RegExp(`/@${NUMBER},${NUMBER}`),
  // OpenStreetMap: center of the map.
  new RegExp(`#map=\\d+(?:\\.\\d+)?/${NUMBER}/${NUMBER}`),
  // Bing.
  new RegExp(`[?&]cp=${NUMBER}(?:~|%7E)${NUMBER}`, "i"),
];

/** Parses a point from two coordinates or a map URL. Returns `undefined` for any other text. */
export function pointIn(text: string): LatLng | undefined {
  const isUrl = /^\s*(https?:\/\/|geo:)/.test(text);
  for (const form of isUrl ? IN_URLS : [PAIR]) {
    const [, lat, lng] = form.exec(text.trim()) ?? [];
    if (lat === undefined) continue;
    const point = { lat: Number(lat), lng: Number(lng) };
    if (Math.abs(point.lat) <= 90 && Math.abs(point.lng) <= 180) return point;
  }
  return undefined;
}
