import type { Size } from "./map-camera.ts";
import type { WorldFrame } from "./map-frame.ts";
import { type Pen, scaleTo } from "./pen.ts";
import type { TileAddress, TileImage, TileSource } from "./tile-source.ts";

/** How large a tile is meant to be shown, in CSS pixels. */
const TILE_SIZE = 256;
/** How many are kept, and how many are loaded at once. */
const MAX_KEPT = 400;
const MAX_LOADING = 12;
/** How many zooms further out an image may be from, which is shown until the right one is there. */
const MAX_ZOOMS_OUT = 6;

/** Images below the zones. */
export type TileLayer = ReturnType<typeof createTileLayer>;

/**
 * Draws the tiles that are in view, and loads those that are missing, the nearest to the middle first.
 *
 * @param changed called when another one can be drawn
 */
export function createTileLayer(source: TileSource, changed: () => void) {
  /** By their addresses, the last used last; undefined while they are loaded, null where there are none. */
  const kept = new Map<string, TileImage | null | undefined>();
  let loading = 0;

  const load = (tile: TileAddress) => {
    const key = keyOf(tile);
    kept.set(key, undefined);
    loading++;
    const settle = (image: TileImage | null) => {
      loading--;
      kept.set(key, image);
      changed();
    };
    source.load(tile).then(
      (image) => settle(image ?? null),
      // It is not asked for again before it is forgotten, or a server that is away would hear of every move.
      () => settle(null),
    );
  };
  /** The image of a tile, and marks it as used. */
  const find = (tile: TileAddress) => {
    const key = keyOf(tile);
    const image = kept.get(key);
    if (image) {
      kept.delete(key);
      kept.set(key, image);
    }
    return image;
  };
  return {
    draw(pen: Pen, { frame, size }: { readonly frame: WorldFrame; readonly size: Size }): void {
      const tiles = tilesIn(frame, size, source);
      scaleTo(pen, { k: 1, x: 0, y: 0 });
      for (const tile of tiles) drawTile(pen, tile, find);
      // Images are made for light pages.
      pen.context.fillStyle = pen.color("shade");
      pen.context.fillRect(0, 0, size.width, size.height);
      for (const tile of tiles) {
        if (loading < MAX_LOADING && !kept.has(keyOf(tile))) load(tile);
      }
      for (const [key, image] of kept) {
        if (kept.size <= MAX_KEPT) break;
        if (image !== undefined) kept.delete(key);
      }
    },
  };
}

function keyOf({ zoom, x, y }: TileAddress): string {
  return `${zoom}/${x}/${y}`;
}

/** A tile, and where it is on the canvas. */
interface SeenTile extends TileAddress {
  readonly left: number;
  readonly top: number;
  readonly length: number;
}

/** The tiles in view, the nearest to the middle first. */
function tilesIn(
  frame: WorldFrame,
  { width, height }: Size,
  { minZoom, maxZoom }: TileSource,
): readonly SeenTile[] {
  const wanted = Math.round(Math.log2(frame.size / TILE_SIZE));
  // Far further out than the source goes, there would be thousands.
  if (wanted < minZoom - 2) return [];
  const zoom = Math.min(Math.max(wanted, minZoom), maxZoom);
  const count = 2 ** zoom;
  const length = frame.size / count;
  const tiles: SeenTile[] = [];
  const [firstX, lastX] = [-frame.left / length, (width - frame.left) / length].map(Math.floor);
  const [firstY, lastY] = [-frame.top / length, (height - frame.top) / length].map(Math.floor);
  for (let y = Math.max(firstY!, 0); y <= Math.min(lastY!, count - 1); y++) {
    for (let along = firstX!; along <= lastX!; along++) {
      const x = ((along % count) + count) % count;
      const [left, top] = [frame.left + along * length, frame.top + y * length];
      tiles.push({ zoom, x, y, left, top, length });
    }
  }
  const fromMiddle = ({ left, top }: SeenTile) =>
    Math.hypot(left + length / 2 - width / 2, top + length / 2 - height / 2);
  return tiles.toSorted((one, other) => fromMiddle(one) - fromMiddle(other));
}

/** Draws a tile, or as long as it is not there, its part of one that is further out. */
function drawTile(
  { context, ratio }: Pen,
  { zoom, x, y, left, top, length }: SeenTile,
  find: (tile: TileAddress) => TileImage | null | undefined,
): void {
  for (let out = 0; out <= Math.min(MAX_ZOOMS_OUT, zoom); out++) {
    const parts = 2 ** out;
    const image = find({
      zoom: zoom - out,
      x: Math.floor(x / parts),
      y: Math.floor(y / parts),
    });
    if (!image) continue;
    const [width, height] = [image.width / parts, image.height / parts];
    // To whole pixels of the canvas, so that there are no seams.
    const snap = (at: number) => Math.round(at * ratio) / ratio;
    const [fromX, fromY] = [snap(left), snap(top)];
    context.drawImage(
      image,
      (x % parts) * width,
      (y % parts) * height,
      width,
      height,
      fromX,
      fromY,
      snap(left + length) - fromX,
      snap(top + length) - fromY,
    );
    return;
  }
}
