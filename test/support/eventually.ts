import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 10;

/** How long a test waits for anything, in milliseconds, unless it gives another time. */
const TIMEOUT_MS = 30_000;

/**
 * Calls `look` every few milliseconds until it returns something other than undefined or false,
 * and returns that.
 *
 * @param wanted what is waited for, for the error's message
 * @throws Error when `timeoutMs` passes first, and whatever `look` throws
 */
export async function eventually<T>(
  wanted: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = TIMEOUT_MS,
): Promise<T> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() >= deadlineMs) throw new Error(`gave up waiting for ${wanted}`);
    await sleep(POLL_MS);
  }
}
