import type { Point } from "../../domain/coverage/geo.ts";
import { call } from "./call.ts";
import { transact } from "./database.ts";

const INTERVAL_MS = 15_000;
/** Maximum number of places in a call. */
const MAX_PLACES = 100;

/**
 * Follows the position of this device and reports it every 15 seconds for the given shipments. Positions are not
 * stored: without a connection they would be outdated when sent.
 *
 * @param onPosition receives each position, or `undefined` if the courier or the device refuses
 * @returns a function that stops it
 */
export function followPosition(shipments: () => readonly string[], onPosition: (position: Point | undefined) => void) {
  let newest: (Point & { readonly measured_at: string }) | undefined;
  // Not the time of day, because the phone's clock can be set back.
  let reportedAt = -Infinity;
  const report = async () => {
    const references = shipments();
    if (newest === undefined || references.length === 0 || performance.now() - reportedAt < INTERVAL_MS) return;
    reportedAt = performance.now();
    const places = references.map((shipment) => ({ shipment, ...newest! }));
    newest = undefined;
    for (let first = 0; first < places.length; first += MAX_PLACES) {
      const answer = await call("/v1/courier_places", { places: places.slice(first, first + MAX_PLACES) });
      if (answer === undefined) return;
    }
  };
  const watch = navigator.geolocation.watchPosition(
    async ({ coords: { latitude: lat, longitude: lng } }) => {
      onPosition({ lat, lng });
      const offsetMs = (await transact("readonly", (tx) => tx.get("clockOffsetMs"))) ?? 0;
      newest = { lat, lng, measured_at: new Date(Date.now() + offsetMs).toISOString() };
      await report();
    },
    (error) => error.code === error.PERMISSION_DENIED && onPosition(undefined),
    { enableHighAccuracy: true, maximumAge: INTERVAL_MS },
  );
  const timer = setInterval(report, INTERVAL_MS);
  return () => {
    navigator.geolocation.clearWatch(watch);
    clearInterval(timer);
  };
}
