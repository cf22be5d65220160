import type { Ground } from "./ground.ts";
import type { Size } from "./map-camera.ts";
import type { Box, Spot, WorldFrame } from "./map-frame.ts";
import { type Pen, scaleTo } from "./pen.ts";
import type { Label } from "./zone-names.ts";

/** A part of the world, and how large it is shown. */
interface Extent {
  readonly frame: WorldFrame;
  readonly size: Size;
}

/** Draws land and borders on water, over the whole canvas. */
export function drawGround(pen: Pen, ground: Ground, extent: Extent): void {
  const { context, color } = pen;
  const { frame, size } = extent;
  scaleTo(pen, { k: 1, x: 0, y: 0 });
  context.fillStyle = color("water");
  context.fillRect(0, 0, size.width, size.height);
  context.fillStyle = color("land");
  context.strokeStyle = color("border");
  context.lineWidth = 1 / frame.size;
  context.setLineDash([]);
  for (const left of worldsIn(extent)) {
    scaleTo(pen, { k: frame.size, x: left, y: frame.top });
    for (const { path, bounds } of ground.countries) {
      if (!isSeen(bounds, { ...extent, left })) continue;
      context.fill(path);
      context.stroke(path);
    }
  }
}

/** The left edges of those repetitions of the world that are in view, or end there with a country. */
function worldsIn({ frame, size }: Extent): readonly number[] {
  const first = Math.floor(-frame.left / frame.size) - 1;
  const last = Math.floor((size.width - frame.left) / frame.size) + 1;
  return Array.from({ length: last - first + 1 }, (_, i) => frame.left + (first + i) * frame.size);
}

function isSeen(
  { left, top, right, bottom }: Box,
  { frame, size, left: from }: Extent & { readonly left: number },
): boolean {
  return (
    from + right * frame.size > 0 &&
    from + left * frame.size < size.width &&
    frame.top + bottom * frame.size > 0 &&
    frame.top + top * frame.size < size.height
  );
}

/** A name of the ground; of a place, which has a dot, or of a country. */
export interface GroundLabel extends Label {
  readonly dot: Spot | undefined;
}

/** How much of the map there is for each name, in square pixels: so few of them are shown. */
const AREA_PER_NAME = 14_000;

/**
 * The names of countries that have room for them, and of the largest places in view: about as many as a
 * reader wants to know where they are.
 */
export function* groundNames(
  { context }: Pen,
  ground: Ground,
  extent: Extent,
): Iterable<GroundLabel> {
  const { frame, size } = extent;
  for (const left of worldsIn(extent)) {
    const spotOf = ([x, y]: Spot): Spot => [left + x * frame.size, frame.top + y * frame.size];
    for (const { name, bounds, namePoint } of ground.countries) {
      const width = context.measureText(name).width;
      if ((bounds.right - bounds.left) * frame.size < width * 1.5) continue;
      if (!isSeen(bounds, { ...extent, left })) continue;
      yield { text: name, at: spotOf(namePoint()), width, height: 14, dot: undefined };
    }
    let rest = (size.width * size.height) / AREA_PER_NAME;
    for (const { name, at } of ground.places) {
      const [x, y] = spotOf(at);
      if (x < 0 || y < 0 || x > size.width || y > size.height) continue;
      if (rest-- < 0) break;
      const width = context.measureText(name).width;
      yield { text: name, at: [x, y - 9], width, height: 22, dot: [x, y] };
    }
  }
}
