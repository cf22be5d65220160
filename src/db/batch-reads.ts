/** How many keys one statement reads at most. */
const MAX_KEYS = 100;
/** How many statements are in flight at a time; more were slower, since they gather fewer keys. */
const MAX_IN_FLIGHT = 2;

interface Waiting<Key, Result> {
  readonly key: Key;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets reads that are asked for at the same time share a statement. Keys are gathered until the end
 * of the current microtask queue, and then for as long as two statements are in flight.
 *
 * @param read gives a result for each key, in order
 * @returns reads one key; rejects when the statement that reads it fails
 */
export function batchReads<Key, Result>(
  read: (keys: readonly Key[]) => Promise<readonly Result[]>,
): (key: Key) => Promise<Result> {
  let waiting: Waiting<Key, Result>[] = [];
  let inFlight = 0;
  let isScheduled = false;

  async function readBatch(batch: readonly Waiting<Key, Result>[]): Promise<void> {
    inFlight++;
    try {
      const results = await read(batch.map(({ key }) => key));
      batch.forEach(({ resolve }, i) => resolve(results[i] as Result));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      inFlight--;
      flush();
    }
  }

  function flush(): void {
    isScheduled = false;
    while (waiting.length > 0 && inFlight < MAX_IN_FLIGHT) {
      const batch = waiting.slice(0, MAX_KEYS);
      waiting = waiting.slice(MAX_KEYS);
      void readBatch(batch);
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      queueMicrotask(flush);
    });
}
