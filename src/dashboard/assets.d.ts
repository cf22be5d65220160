declare module "*.svg" {
  /** URL of the file with its content hash. */
  const url: string;
  export default url;
}

declare module "*.css";

declare module "*.json?url" {
  /** URL of the file with its content hash. The file is not part of the bundle. */
  const url: string;
  export default url;
}

interface ImportMeta {
  /** Returns the loaders of the modules that match a pattern, by path. Vite replaces the call at build time. */
  glob<T>(pattern: string): Readonly<Record<string, () => Promise<T>>>;
}

interface Window {
  /** Defined in browsers that support Trusted Types. */
  readonly trustedTypes?: {
    createPolicy(name: string, rules: { createHTML(html: string): string | null }): unknown;
  };
}
