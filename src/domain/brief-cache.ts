import { LRUCache } from "lru-cache";
import { Refusal } from "./refusal.ts";

/** Time for which a lookup is cached, in milliseconds, and maximum number of entries. */
const CACHE_MS = 1_000;
const MAX_CACHED = 10_000;

/**
 * Creates a cache of lookups, so that changes take effect everywhere within a second. Results and refusals are cached
 * for a second from the start of the lookup. lru-cache's `fetchMethod` would count from the end of the lookup, and
 * caches neither refusals nor misses.
 */
export function createBriefCache<T>() {
  const cached = new LRUCache<string, Promise<T>>({ max: MAX_CACHED, ttl: CACHE_MS });
  return {
    /** Returns the cached result for a key, or starts the lookup. */
    find(key: string, find: () => Promise<T>): Promise<T> {
      const known = cached.get(key);
      if (known !== undefined) return known;
      const finding = find();
      cached.set(key, finding);
      // Database errors are not cached.
      finding.catch((error: unknown) => {
        if (!(error instanceof Refusal)) cached.delete(key);
      });
      return finding;
    },
    clear: () => cached.clear(),
  };
}
