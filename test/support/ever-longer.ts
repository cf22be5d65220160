import { IDLE_MS } from "./limits.ts";

/**
 * Tests a time limit that a slow machine can exceed even if the code is correct. Retries a failed
 * attempt with twice the limit, up to a limit that no machine exceeds.
 *
 * @param firstMs initial limit in milliseconds
 */
export async function everLonger(firstMs: number, tryWith: (limitMs: number) => Promise<void>): Promise<void> {
  for (let limitMs = firstMs; ; limitMs *= 2) {
    try {
      return await tryWith(limitMs);
    } catch (error) {
      if (limitMs >= IDLE_MS) throw error;
    }
  }
}
