import type { LatLng } from "../map/map-geometry.ts";

const NUMBER = String.raw`(-?\d{1,3}(?:\.\d+)?)`;
const DECIMAL = String.raw`(-?\d{1,3}\.\d+)`;

/** A latitude and a longitude as maps give them for copying: `40.758, -73.9855`. */
const PAIR = new RegExp(`^\\s*${DECIMAL}\\s*[,;\\s]\\s*${DECIMAL}\\s*$`);

/** Where addresses of maps have a place, the exact one first: a pin, then the middle of the map. */
const IN_URLS = [
  // Google: the pin of a place.
  new RegExp(`!3d${NUMBER}!4d${NUMBER}`),
  // OpenStreetMap: a marker.
  new RegExp(`[?&]mlat=${NUMBER}&mlon=${NUMBER}`),
  // Google, Apple and others: what was searched for, or shown.
  new RegExp(
    `[?&](?:q|query|ll|sll|coordinate|destination|center)=(?:loc:)?${NUMBER}(?:,|%2C)${NUMBER}`,
    "i",
  ),
  // RFC 5870.
  new RegExp(`^geo:${NUMBER},${NUMBER}`),
  // Google: the middle of the map.
  new RegExp(`/@${NUMBER},${NUMBER}`),
  // OpenStreetMap: the middle of the map.
  new RegExp(`#map=\\d+(?:\\.\\d+)?/${NUMBER}/${NUMBER}`),
  // Bing.
  new RegExp(`[?&]cp=${NUMBER}(?:~|%7E)${NUMBER}`, "i"),
];

/** The place that a text names: two coordinates, or the address of a map; undefined for other texts. */
export function placeIn(text: string): LatLng | undefined {
  const isUrl = /^\s*(https?:\/\/|geo:)/.test(text);
  for (const form of isUrl ? IN_URLS : [PAIR]) {
    const [, lat, lng] = form.exec(text.trim()) ?? [];
    if (lat === undefined) continue;
    const place = { lat: Number(lat), lng: Number(lng) };
    if (Math.abs(place.lat) <= 90 && Math.abs(place.lng) <= 180) return place;
  }
  return undefined;
}
