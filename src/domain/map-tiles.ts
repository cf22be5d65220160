/** Source of map images: a server or a local file, with the attribution to display. */
export type MapTiles = { readonly attribution: string } & (
  | {
      /** URL template of an image, with `{z}`, `{x}` and `{y}`. */
      readonly url: string;
    }
  | {
      /** Path of a PMTiles file with images. */
      readonly file: string;
    }
);
