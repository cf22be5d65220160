import { OverloadedError } from "./database-error.ts";
import { createSemaphore } from "./semaphore.ts";
import { settledOrAfter } from "./settled-or-after.ts";

/** How many keys one statement reads at most. */
const MAX_KEYS = 100;
/** How many statements are in flight at a time; more were slower, since they gather fewer keys. */
const MAX_IN_FLIGHT = 2;
/** After how long a slow statement no longer holds up the next one, in milliseconds. */
const SLOW_READ_MS = 100;
/** How many statements are in flight at most, slow ones included. */
const MAX_WITH_SLOW = 6;
/** How long a key waits to be read at most, in milliseconds. */
const MAX_WAIT_MS = 2_000;

interface Waiting<Key, Result> {
  readonly key: Key;
  /** On the clock of `performance.now()`. */
  readonly expiresAtMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets reads that are asked for at the same time share a statement. Keys are gathered until the end
 * of the current microtask queue, and then for as long as two statements are in flight.
 *
 * @param read gives a result for each key, in order
 * @returns reads one key. Rejects when the statement that reads it fails, and with OverloadedError
 * when it is not sent within 2 seconds
 */
export function batchReads<Key, Result>(
  read: (keys: readonly Key[]) => Promise<readonly Result[]>,
): (key: Key) => Promise<Result> {
  const fast = createSemaphore(MAX_IN_FLIGHT);
  const all = createSemaphore(MAX_WITH_SLOW);
  let waiting: Waiting<Key, Result>[] = [];
  let isDraining = false;

  async function readBatch(batch: readonly Waiting<Key, Result>[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      const results = await read(batch.map(({ key }) => key));
      batch.forEach(({ resolve }, i) => resolve(results[i] as Result));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  function takeBatch(): Waiting<Key, Result>[] {
    const now = performance.now();
    const late = waiting.filter(({ expiresAtMs }) => expiresAtMs <= now);
    for (const { reject } of late) reject(new OverloadedError());
    if (late.length > 0) waiting = waiting.filter(({ expiresAtMs }) => expiresAtMs > now);
    return waiting.splice(0, MAX_KEYS);
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      await all.acquire();
      await fast.acquire();
      const done = readBatch(takeBatch());
      void done.then(all.release);
      void settledOrAfter(SLOW_READ_MS, done).then(fast.release);
    }
    isDraining = false;
  }

  return (key) =>
    new Promise((resolve, reject) => {
      const expiresAtMs = performance.now() + MAX_WAIT_MS;
      waiting.push({ key, expiresAtMs, resolve, reject });
      if (isDraining) return;
      isDraining = true;
      queueMicrotask(() => void drain());
    });
}
