/** Images of parts of the world, in a square of 2 to the power of `zoom` by as many. */
export interface TileSource {
  /** Whom the images are from. */
  readonly attribution: string;
  readonly minZoom: number;
  readonly maxZoom: number;
  /** An image; undefined where there is none. `x` goes east, `y` south, each from 0. */
  load(tile: TileAddress): Promise<TileImage | undefined>;
}

/** An image that is loaded. */
export type TileImage = HTMLImageElement | ImageBitmap;

/** Which image of a source. */
export interface TileAddress {
  readonly zoom: number;
  readonly x: number;
  readonly y: number;
}

/** As the service says it: addresses with `{z}`, `{x}` and `{y}`, or the path of a PMTiles file. */
type Setting = { readonly attribution: string } & (
  | { readonly url: string }
  | { readonly archive: string }
);

/** How far servers of tiles go. */
const MAX_ZOOM = 19;

let source: Promise<TileSource | undefined> | undefined;

/** Where the operator has the images of maps come from; undefined for nowhere. Asked once for all maps. */
export function loadTileSource(): Promise<TileSource | undefined> {
  source ??= readSource();
  source.catch(() => (source = undefined));
  return source;
}

async function readSource(): Promise<TileSource | undefined> {
  const response = await fetch("/map/tiles");
  if (!response.ok) throw new Error(`where tiles are is not said: ${response.status}`);
  const { tiles } = (await response.json()) as { readonly tiles: Setting | null };
  if (tiles === null) return undefined;
  const { attribution } = tiles;
  if ("archive" in tiles) {
    const { openArchive } = await import("./tile-archive.ts");
    return { attribution, ...(await openArchive(tiles.archive)) };
  }
  const load = (tile: TileAddress) => loadImage(addressOf(tiles.url, tile));
  return { attribution, minZoom: 0, maxZoom: MAX_ZOOM, load };
}

function addressOf(template: string, { zoom, x, y }: TileAddress): string {
  const values: Readonly<Record<string, number>> = { z: zoom, x, y };
  return template.replaceAll(/\{([xyz])\}/g, (_, name: string) => String(values[name]));
}

async function loadImage(url: string): Promise<TileImage> {
  const image = new Image();
  // Servers of tiles ask which site shows them; the page itself is none of their business.
  image.referrerPolicy = "strict-origin";
  image.src = url;
  await image.decode();
  return image;
}
