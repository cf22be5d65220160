declare module "*.svg" {
  /** The address of the file, with the hash of its content. */
  const url: string;
  export default url;
}

declare module "*.css";
