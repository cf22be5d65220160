import { LRUCache } from "lru-cache";

/** Remembers answers that took long, so that asking again and again costs little. */
export interface SlowAnswers<T extends object> {
  /**
   * The answer under a key: a remembered one, that of a computation in flight, or a new one. Rejects with
   * what `compute` rejects with.
   */
  get(key: string, compute: () => Promise<T>): Promise<T>;
}

/** What took less long is never remembered, so that it is always fresh, in milliseconds. */
const SLOW_MS = 100;
/** For how many times as long as it took an answer is remembered. */
const FACTOR = 20;
/** For how long at most, in milliseconds. */
const MAX_AGE_MS = 30_000;
/** How many answers are remembered at most. */
const MAX_ANSWERS = 500;

/** Builds the memory of one process. */
export function createSlowAnswers<T extends object>(): SlowAnswers<T> {
  const remembered = new LRUCache<string, T>({ max: MAX_ANSWERS });
  const inFlight = new Map<string, Promise<T>>();

  async function computeTimed(key: string, compute: () => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    const answer = await compute();
    const tookMs = performance.now() - startedMs;
    const ttl = Math.ceil(Math.min(MAX_AGE_MS, tookMs * FACTOR));
    if (tookMs >= SLOW_MS) remembered.set(key, answer, { ttl });
    return answer;
  }

  return {
    async get(key, compute) {
      const known = remembered.get(key) ?? inFlight.get(key);
      if (known !== undefined) return known;
      const computing = computeTimed(key, compute).finally(() => inFlight.delete(key));
      inFlight.set(key, computing);
      return computing;
    },
  };
}
