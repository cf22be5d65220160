import type { Spot, Transform } from "./map-frame.ts";

/** How long the sides of the world may become, in pixels: from a stamp to where a pixel is a third of a metre. */
const WORLD_SIZES = { least: 256, most: 2 ** 27 };
/** How near to an edge of the map what is to be seen may lie, in pixels. */
const EDGE = 24;
const UNMOVED: Transform = { k: 1, x: 0, y: 0 };

export type MapCamera = ReturnType<typeof createCamera>;

/** The size of something, in CSS pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * How a map is moved and scaled, from where it was fitted to.
 *
 * @param size of the canvas
 * @param worldSize how long the sides of the world are before it is scaled, in pixels
 * @param moved called whenever it is elsewhere
 */
export function createCamera(size: () => Size, worldSize: () => number, moved: () => void) {
  let at = UNMOVED;
  const moveTo = (next: Transform) => {
    at = next;
    moved();
  };
  const pan = (dx: number, dy: number) => moveTo({ ...at, x: at.x + dx, y: at.y + dy });
  const center = (): Spot => [size().width / 2, size().height / 2];
  return {
    at: () => at,
    isUnmoved: () => at === UNMOVED,
    reset: () => moveTo(UNMOVED),
    pan,
    /** Makes everything larger by a factor, around a point, which stays; the middle by default. */
    zoom(factor: number, [x, y]: Spot = center()): void {
      const [least, most] = [WORLD_SIZES.least / worldSize(), WORLD_SIZES.most / worldSize()];
      const k = Math.min(Math.max(at.k * factor, least), most);
      const ratio = k / at.k;
      moveTo({ k, x: x - (x - at.x) * ratio, y: y - (y - at.y) * ratio });
    },
    /** Moves a point into view that is not. */
    reveal([x, y]: Spot): void {
      const { width, height } = size();
      pan(wayInto(x, width), wayInto(y, height));
    },
    center,
  };
}

/** How far a coordinate has to go to be away from the edges. */
function wayInto(coordinate: number, length: number): number {
  return Math.max(0, EDGE - coordinate) - Math.max(0, coordinate - (length - EDGE));
}
