import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 10;

/**
 * Looks every few milliseconds until `look` gives something other than undefined or false.
 *
 * @param deadline epoch milliseconds
 * @param wanted what is waited for, for the error's sentence
 * @throws Error when the deadline passes first, and whatever `look` throws
 */
export async function until<T>(
  wanted: string,
  deadline: number,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() >= deadline) throw new Error(`gave up waiting for ${wanted}`);
    await sleep(POLL_MS);
  }
}

/**
 * Does `work`, and gives what that gives; undefined when it fails with one of the system's error
 * codes, such as ENOENT.
 */
export function attempt<T>(work: () => T, ...codes: string[]): T | undefined {
  try {
    return work();
  } catch (error) {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
