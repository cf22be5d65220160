import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { IDLE_MS } from "./limits.ts";

const POLL_MS = 10;

/**
 * Calls `look` every few milliseconds until it returns something other than undefined or false,
 * and returns that.
 *
 * @param wanted what is waited for, for the error's message
 * @throws Error when the machine has had nothing to do for half a minute, and whatever `look` throws
 */
export async function eventually<T>(
  wanted: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const startedMs = idleMs();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (idleMs() - startedMs >= IDLE_MS) throw new Error(`gave up waiting for ${wanted}`);
    await sleep(POLL_MS);
  }
}

/** How long a processor has had nothing to do, on average, since the machine started, in milliseconds. */
function idleMs(): number {
  const all = cpus();
  return all.reduce((sum, { times }) => sum + times.idle, 0) / all.length;
}
