import { createSemaphore } from "./semaphore.ts";
import { createWaiter, type Waiter } from "./waiter.ts";

/**
 * Repeats work until shutdown. The work returns the next pause in milliseconds.
 *
 * @param waiter ends pauses early. Without it, pauses are randomly shortened by up to a tenth, so that loops do not
 *   open connections at the same time
 */
export type Repeat = (work: () => Promise<number>, waiter?: Waiter) => Promise<void>;

/**
 * Creates the function that starts background loops, which stop when the signal aborts. The first runs of all loops
 * follow each other, so that a starting process does not open a connection for each.
 *
 * @param maxRestMs maximum pause in milliseconds
 */
export function createRepeat(signal: AbortSignal, maxRestMs = Infinity): Repeat {
  const turn = createSemaphore(1);
  async function runInTurn(work: () => Promise<number>): Promise<number> {
    await turn.acquire();
    try {
      return signal.aborted ? 0 : await work();
    } finally {
      turn.release();
    }
  }
  return async (work, waiter) => {
    const { wait } = waiter ?? createWaiter();
    let restMs = await runInTurn(work);
    while (!signal.aborted) {
      const share = waiter === undefined ? 1 - Math.random() / 10 : 1;
      await wait(Math.min(restMs, maxRestMs) * share, signal);
      if (!signal.aborted) restMs = await work();
    }
  };
}
