/**
 * Loads something when it is first needed, such as a library of some MiB that not every service needs. When that fails,
 * as while files are away during an update, the next call tries again.
 */
export function loadOnce<T>(load: () => Promise<T>) {
  let loaded: Promise<T> | undefined;
  return {
    get(): Promise<T> {
      loaded ??= load().catch((error: unknown) => {
        loaded = undefined;
        throw error;
      });
      return loaded;
    },
    /** What is loaded, or being loaded; undefined before the first use. */
    peek: () => loaded,
  };
}
