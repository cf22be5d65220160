import { onBehalfOfAll } from "./connection-shares.ts";
import { createGroupQueue, type ObserveGroup, type Waiting } from "./group-queue.ts";
import { createSemaphore, settledOrAfter } from "./semaphore.ts";

/** How many keys one statement reads at most. */
const MAX_KEYS = 100;
/** How many statements are in flight at a time; more were slower, since they gather fewer keys. */
const MAX_IN_FLIGHT = 2;
/** After how long a slow statement no longer holds up the next one, in milliseconds. */
const SLOW_READ_MS = 100;
/** How many statements are in flight at most, slow ones included. */
const MAX_WITH_SLOW = 6;

/**
 * Lets reads that are asked for at the same time share a statement. Keys are gathered until the end
 * of the current microtask queue, and then for as long as two statements are in flight.
 *
 * @param read gives a result for each key, in order
 * @param observe called for each statement
 * @returns reads one key. Rejects when the statement that reads it fails, and with OverloadedError
 * when it is not sent within 2 seconds
 */
export function batchReads<Key, Result>(
  read: (keys: readonly Key[]) => Promise<readonly Result[]>,
  observe: ObserveGroup,
): (key: Key) => Promise<Result> {
  const queue = createGroupQueue<Key, Result>({
    maxMembers: MAX_KEYS,
    serializeBy: () => undefined,
    observe,
  });
  const fast = createSemaphore(MAX_IN_FLIGHT);
  const all = createSemaphore(MAX_WITH_SLOW);
  let isDraining = false;

  async function readBatch(batch: readonly Waiting<Key, Result>[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      const results = await read(batch.map(({ member }) => member));
      batch.forEach(({ resolve }, i) => resolve(results[i] as Result));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function drain(): Promise<void> {
    while (queue.hasMembers()) {
      await all.acquire();
      await fast.acquire();
      const batch = queue.takeGroup();
      const done = readBatch(batch);
      void done.then(all.release);
      void settledOrAfter(SLOW_READ_MS, done).then(fast.release);
      // All that are left have waited too long, and the queue rejects them.
      if (batch.length === 0) break;
    }
    isDraining = false;
  }

  return (key) => {
    const found = queue.add(key, Infinity);
    if (!isDraining) {
      isDraining = true;
      queueMicrotask(() => void onBehalfOfAll(drain));
    }
    return found;
  };
}
