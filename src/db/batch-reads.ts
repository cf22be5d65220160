import { onBehalfOfAll } from "./connection-shares.ts";
import { createDrain, createGroupQueue, type ObserveGroup, type Waiting } from "./group-queue.ts";
import { createSemaphore } from "./semaphore.ts";

/** How many keys one statement reads at most. */
const MAX_KEYS = 100;
/** How many statements are in flight at most, slow ones included. */
const MAX_IN_FLIGHT = 6;

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

  async function readBatch(batch: readonly Waiting<Key, Result>[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      const results = await read(batch.map(({ member }) => member));
      batch.forEach(({ resolve }, i) => resolve(results[i] as Result));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  const drain = createDrain(queue, createSemaphore(MAX_IN_FLIGHT), readBatch);
  let isScheduled = false;
  const drainOnce = () => {
    isScheduled = false;
    void onBehalfOfAll(drain);
  };
  return (key) => {
    const found = queue.add(key, Infinity);
    if (!isScheduled) queueMicrotask(drainOnce);
    isScheduled = true;
    return found;
  };
}
