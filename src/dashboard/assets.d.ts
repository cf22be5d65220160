declare module "*.svg" {
  /** The address of the file, with the hash of its content. */
  const url: string;
  export default url;
}

declare module "*.css";

declare module "*.json?url" {
  /** The address of the file, with the hash of its content; it is not part of the program. */
  const url: string;
  export default url;
}

interface ImportMeta {
  /** How to load the modules of a pattern, by their paths; Vite puts it in place. */
  glob<T>(pattern: string): Readonly<Record<string, () => Promise<T>>>;
}

interface Window {
  /** In browsers that check what is set as HTML. */
  readonly trustedTypes?: {
    createPolicy(name: string, rules: { createHTML(html: string): string | null }): unknown;
  };
}
