import { IDLE_MS } from "./limits.ts";

/**
 * Tests a time limit that also holds for what has to go on, which a machine that pauses for as long breaks:
 * what fails is tried again with twice the limit, up to what no machine pauses for.
 *
 * @param firstMs the limit to begin with, in milliseconds
 */
export async function everLonger(
  firstMs: number,
  tryWith: (limitMs: number) => Promise<void>,
): Promise<void> {
  for (let limitMs = firstMs; ; limitMs *= 2) {
    try {
      return await tryWith(limitMs);
    } catch (error) {
      if (limitMs >= IDLE_MS) throw error;
    }
  }
}
