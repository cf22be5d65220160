import type { Visit } from "../run/shipment.ts";

export const NAVIGATION_APPS = ["geo", "google", "apple"] as const;

/** Returns the URL that opens a place in a navigation app. `geo:` opens the app that the phone's owner chose. */
export function navigationUrl(app: string, { lat, lng, address }: Visit): string {
  const point = `${lat},${lng}`;
  if (app === "google") return `https://www.google.com/maps/dir/?api=1&destination=${point}`;
  if (app === "apple") return `https://maps.apple.com/?daddr=${point}`;
  return `geo:${point}?q=${point}(${encodeURIComponent(address)})`;
}
