import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { IDLE_MS } from "./limits.ts";

/** How long to rest between looks, in milliseconds: a tenth of what was waited, so that waiting costs others little. */
const restAfter = (waitedMs: number) => Math.min(Math.max(waitedMs / 10, 5), 100);

/**
 * Calls `look` again and again until it returns something other than undefined or false,
 * and returns that.
 *
 * @param wanted what is waited for, for the error's message
 * @throws Error when the machine has had nothing to do for half a minute, and whatever `look` throws
 */
export async function eventually<T>(
  wanted: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const startedMs = performance.now();
  const startedIdleMs = idleMs();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (idleMs() - startedIdleMs >= IDLE_MS) throw new Error(`gave up waiting for ${wanted}`);
    await sleep(restAfter(performance.now() - startedMs));
  }
}

/** How long a processor has had nothing to do, on average, since the machine started, in milliseconds. */
function idleMs(): number {
  const all = cpus();
  return all.reduce((sum, { times }) => sum + times.idle, 0) / all.length;
}
