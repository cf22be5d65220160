import { PMTiles } from "pmtiles";
import type { TileSource } from "./tile-source.ts";

/** Opens a PMTiles file of images. Only displayed tiles are loaded. */
export async function openArchive(url: string): Promise<Omit<TileSource, "attribution">> {
  const archive = new PMTiles(new URL(url, location.href).href);
  const { minZoom, maxZoom } = await archive.getHeader();
  return {
    minZoom,
    maxZoom,
    async load({ zoom, x, y }) {
      const tile = await archive.getZxy(zoom, x, y);
      return tile && createImageBitmap(new Blob([tile.data]));
    },
  };
}
