/** Source of map images, a server or a local file, with the attribution to show. */
export type MapTiles = { readonly attribution: string } & (
  | {
      /** URL template of an image, with `{z}`, `{x}` and `{y}`. */
      readonly url: string;
    }
  | {
      /** A PMTiles file of images. */
      readonly file: string;
    }
);
