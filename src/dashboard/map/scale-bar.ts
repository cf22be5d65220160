import { numberText } from "../ui/format.ts";

/** A round length as text, and its width on the map in pixels. */
export interface ScaleBar {
  readonly text: string;
  readonly width: number;
}

/** Returns the longest round length (1, 2 or 5 times a power of ten) within a width in pixels. */
export function scaleBar(metersPerPixel: number, maxWidth: number): ScaleBar {
  const maxMeters = metersPerPixel * maxWidth;
  const power = 10 ** Math.floor(Math.log10(maxMeters));
  const meters = ([5, 2].find((factor) => factor * power <= maxMeters) ?? 1) * power;
  const text = meters >= 1_000 ? `${numberText(meters / 1_000)} km` : `${numberText(meters)} m`;
  return { text, width: meters / metersPerPixel };
}
