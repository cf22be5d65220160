import { numberText } from "../ui/format.ts";

/** Returns the longest round length (1, 2 or 5 times a power of ten) as text, and its width on the map, in pixels. */
export function scaleBar(metersPerPixel: number, maxWidth: number) {
  const maxMeters = metersPerPixel * maxWidth;
  const power = 10 ** Math.floor(Math.log10(maxMeters));
  const meters = ([5, 2].find((factor) => factor * power <= maxMeters) ?? 1) * power;
  const text = meters >= 1_000 ? `${numberText(meters / 1_000)} km` : `${numberText(meters)} m`;
  return { text, width: meters / metersPerPixel };
}
