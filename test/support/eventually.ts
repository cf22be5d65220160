import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { IDLE_MS } from "./limits.ts";

/** Delay between polls, in milliseconds: a tenth of the time waited so far. */
const restAfter = (waitedMs: number) => Math.min(Math.max(waitedMs / 10, 5), 100);

/**
 * Calls `poll` until it returns a value other than undefined and false, and returns that.
 *
 * @param wanted description of the condition for the error message
 * @throws Error after half a minute of idle CPU time, and errors of `poll`
 */
export async function eventually<T>(
  wanted: string,
  poll: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const startedMs = performance.now();
  const startedIdleMs = idleMs();
  for (;;) {
    const found = await poll();
    if (found !== undefined && found !== false) return found;
    if (idleMs() - startedIdleMs >= IDLE_MS) throw new Error(`gave up waiting for ${wanted}`);
    await sleep(restAfter(performance.now() - startedMs));
  }
}

/** Returns the idle time of a processor since boot, on average, in milliseconds. */
function idleMs(): number {
  const all = cpus();
  return all.reduce((sum, { times }) => sum + times.idle, 0) / all.length;
}
