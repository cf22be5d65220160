/**
 * Loads a value lazily and once, for example a large library that few services need. After a
 * failure, for example while files are replaced during an update, the next call retries.
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
    /** Returns the loaded or loading value, or `undefined` before the first use. */
    peek: () => loaded,
  };
}
