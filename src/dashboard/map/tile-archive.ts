import { PMTiles } from "pmtiles";

/** Opens a PMTiles file of images. Loads only the displayed tiles. */
export async function openArchive(url: string) {
  const archive = new PMTiles(new URL(url, location.href).href);
  const { minZoom, maxZoom } = await archive.getHeader();
  return {
    minZoom,
    maxZoom,
    async load({ zoom, x, y }: Readonly<Record<"zoom" | "x" | "y", number>>) {
      const tile = await archive.getZxy(zoom, x, y);
      return tile && createImageBitmap(new Blob([tile.data]));
    },
  };
}
