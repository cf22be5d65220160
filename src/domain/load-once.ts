/**
 * Creates a lazy loader for a value that is loaded once, such as a large library that few services need. If loading
 * fails, for example while files are replaced during an update, the next call retries.
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
    /** Returns the promise of the value, or `undefined` before the first use. */
    peek: () => loaded,
  };
}
