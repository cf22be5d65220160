import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { IDLE_MS } from "./limits.ts";

/** Returns the delay before the next poll, in milliseconds: a tenth of the time waited so far, 5 to 100. */
const restAfter = (waitedMs: number) => Math.min(Math.max(waitedMs / 10, 5), 100);

/**
 * Calls `poll` until it returns a value other than `undefined` or `false`, and returns that value.
 *
 * @param description description of the condition for the error message
 * @throws Error after half a minute of idle CPU time, and any error from `poll`
 */
export async function eventually<T>(
  description: string,
  poll: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const startedMs = performance.now();
  const startedIdleMs = idleMs();
  for (;;) {
    const found = await poll();
    if (found !== undefined && found !== false) return found;
    if (idleMs() - startedIdleMs >= IDLE_MS) throw new Error(`gave up waiting for ${description}`);
    await sleep(restAfter(performance.now() - startedMs));
  }
}

/** Returns the average idle time of a processor since boot, in milliseconds. */
function idleMs(): number {
  const all = cpus();
  return all.reduce((sum, { times }) => sum + times.idle, 0) / all.length;
}
