import TileLayer from "ol/layer/Tile.js";
import ImageTile from "ol/source/ImageTile.js";
import type { TileSource } from "./tile-source.ts";

/** Creates a layer of tile images below the zones, shaded in the dark theme. */
export function createTileLayer({ load, minZoom, maxZoom }: TileSource, shade: () => string) {
  const loader = async (zoom: number, x: number, y: number) => {
    const image = await load({ zoom, x, y });
    if (image === undefined) throw new Error("no such tile");
    return image;
  };
  const layer = new TileLayer({
    source: new ImageTile({ loader, minZoom, maxZoom, transition: 0 }),
    // Zooming out much further than the source would need thousands of tiles.
    minZoom: minZoom - 2,
    zIndex: 1,
  });
  layer.on("postrender", ({ context }) => {
    if (!(context instanceof CanvasRenderingContext2D)) return;
    context.fillStyle = shade();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillRect(0, 0, context.canvas.width, context.canvas.height);
  });
  return layer;
}
