/** Source of tile images. At each zoom, the world is a grid of 2 to the power of `zoom` rows and columns. */
export interface TileSource {
  readonly attribution: string;
  readonly minZoom: number;
  readonly maxZoom: number;
  /** Loads a tile's image, or `undefined` if it is missing. `x` counts east and `y` south, from 0. */
  load(tile: TileAddress): Promise<TileImage | undefined>;
}

type TileImage = HTMLImageElement | ImageBitmap;

interface TileAddress {
  readonly zoom: number;
  readonly x: number;
  readonly y: number;
}

/** Tile setting of the operator: a URL with `{z}`, `{x}` and `{y}`, or the path of a PMTiles file. */
type Setting = { readonly attribution: string } & ({ readonly url: string } | { readonly archive: string });

/** Maximum zoom of tile servers. */
const MAX_ZOOM = 19;

let source: Promise<TileSource | undefined> | undefined;

/** Loads the operator's tile source once. `undefined` if none is configured. */
export function loadTileSource(): Promise<TileSource | undefined> {
  source ??= readSource();
  source.catch(() => (source = undefined));
  return source;
}

async function readSource(): Promise<TileSource | undefined> {
  const response = await fetch("/map/tiles");
  if (!response.ok) throw new Error(`loading the description of the tiles failed: ${response.status}`);
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
  // Tile servers require the referring origin. The page's path stays private.
  image.referrerPolicy = "strict-origin";
  image.src = url;
  await image.decode();
  return image;
}
