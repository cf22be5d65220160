/** What is loaded with its first use, such as a library of some MiB that not every service needs. */
export interface LoadedOnce<T> {
  /** Loads it unless it is. When that fails, as while files are away during an update, the next call tries again. */
  get(): Promise<T>;
  /** What is loaded, or being loaded; undefined before the first use. */
  peek(): Promise<T> | undefined;
}

/** Loads something once, when first needed. */
export function loadOnce<T>(load: () => Promise<T>): LoadedOnce<T> {
  let loaded: Promise<T> | undefined;
  return {
    get() {
      loaded ??= load().catch((error: unknown) => {
        loaded = undefined;
        throw error;
      });
      return loaded;
    },
    peek: () => loaded,
  };
}
