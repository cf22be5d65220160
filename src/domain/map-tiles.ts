/** Where the images of maps come from, and whom they are from: a server, or a file beside the service. */
export type MapTiles = { readonly attribution: string } & (
  | {
      /** The address of each image, with `{z}`, `{x}` and `{y}` for its place. */
      readonly url: string;
    }
  | {
      /** A PMTiles file of images. */
      readonly file: string;
    }
);
