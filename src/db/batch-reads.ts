import { createGroupQueue, type ObserveGroup, type Waiting } from "./group-queue.ts";
import { createSemaphore } from "./semaphore.ts";

/** How many keys one statement reads at most. */
const MAX_KEYS = 100;
/** How many statements are in flight at most, slow ones included. */
const MAX_IN_FLIGHT = 6;

/**
 * Lets reads in one workspace that are asked for at the same time share a statement. Keys are gathered
 * until the end of the tick, and then for as long as two statements of their workspace are in flight.
 *
 * @param read gives a result for each key, in order; all are of one workspace
 * @param observe called for each statement
 * @returns reads one key. Rejects when the statement that reads it fails, and with OverloadedError
 * when it is not sent within 2 seconds
 */
export function batchReads<Key extends { readonly workspace: number }, Result>(
  read: (keys: readonly Key[]) => Promise<readonly Result[]>,
  observe: ObserveGroup,
): (key: Key) => Promise<Result> {
  const add = createGroupQueue<Key, Result>({
    maxMembers: MAX_KEYS,
    ownerOf: ({ workspace }) => workspace,
    serializeBy: () => undefined,
    observe,
    all: createSemaphore(MAX_IN_FLIGHT),
    send: readBatch,
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

  return (key) => add(key, Infinity);
}
