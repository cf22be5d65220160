import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type { LatLng } from "../map/map-geometry.ts";
import { nextStopOf } from "./next-stop.ts";

const RADIANS = Math.PI / 180;

function startOf(shipment: Shipment): number {
  const start = nextStopOf(shipment).window?.start;
  return start === undefined ? 0 : timestampMs(start);
}

/** Sorts shipments by the window of the next stop. Shipments without a window come first, the oldest first. */
export function byWindow(shipments: readonly Shipment[]): readonly Shipment[] {
  return shipments.toSorted((a, b) => startOf(a) - startOf(b) || timestampMs(a.createdAt!) - timestampMs(b.createdAt!));
}

/**
 * Proposes a route: starts with the first stop by window, then always visits the nearest remaining stop. Distances are
 * straight lines.
 */
export function byNearest(shipments: readonly Shipment[]): readonly Shipment[] {
  const [first, ...left] = byWindow(shipments);
  const route = first === undefined ? [] : [first];
  while (left.length > 0) {
    const { at: from } = nextStopOf(route.at(-1)!);
    const distances = left.map((shipment) => squareDistance(from, nextStopOf(shipment).at));
    route.push(...left.splice(distances.indexOf(Math.min(...distances)), 1));
  }
  return route;
}

/** Returns the square of the distance in degrees of latitude, on an equirectangular projection. */
function squareDistance(from: LatLng, to: LatLng): number {
  const across = Math.abs(to.lng - from.lng);
  const x = Math.min(across, 360 - across) * Math.cos(((from.lat + to.lat) / 2) * RADIANS);
  return x ** 2 + (to.lat - from.lat) ** 2;
}
