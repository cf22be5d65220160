import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 10;

/** Calls `poll` until it returns a value. Throws after the deadline, which is in milliseconds since the epoch. */
export async function until<T>(
  description: string,
  deadline: number,
  poll: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (;;) {
    const found = await poll();
    if (found !== undefined && found !== false) return found;
    if (Date.now() >= deadline) throw new Error(`gave up waiting for ${description}`);
    await sleep(POLL_MS);
  }
}

/** Returns the result of `work`, or `undefined` if it fails with one of the error codes, such as ENOENT. */
export function attempt<T>(work: () => T, ...codes: string[]): T | undefined {
  try {
    return work();
  } catch (error) {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
