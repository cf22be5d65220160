import { LRUCache } from "lru-cache";
import { unavailable } from "../../domain/refusal.ts";
import { LOOKUPS } from "../bounds/limits.ts";
import type { FailedAttempts } from "./failed-attempts.ts";

/** Looks up credentials. Guessed credentials do not slow down other callers. */
export type Lookups = ReturnType<typeof createLookups>;

/** Maximum number of cached valid credentials. The least recently used credential is removed first. */
const MAX_GOOD = 10_000;

export function createLookups(maxWaitMs?: number) {
  const good = new LRUCache<string, true>({ max: MAX_GOOD });
  const inTurn = createTurns(LOOKUPS.concurrency, maxWaitMs);
  return {
    /**
     * Looks up a credential. If its last lookup in this process succeeded, the lookup starts immediately. Otherwise it
     * counts against the address and waits behind a few concurrent lookups. Guesses therefore do not affect valid
     * credentials from the same address.
     *
     * @throws Refusal RATE_LIMITED, UNAVAILABLE if too many lookups are waiting or the wait is too long,
     *   and errors of `find`
     */
    async find<T>(
      credential: string,
      {
        attempts,
        address,
        find,
      }: { readonly attempts: FailedAttempts; readonly address: string; readonly find: () => Promise<T | undefined> },
    ): Promise<T | undefined> {
      const wasGood = good.has(credential);
      const found = wasGood ? await attempts.make(credential, find) : await attempts.make(address, () => inTurn(find));
      if (found === undefined) good.delete(credential);
      else good.set(credential, true);
      return found;
    },
    trust: (credential: string) => void good.set(credential, true),
  };
}

/** Runs work with limited concurrency, in order. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Creates a queue of work with limited concurrency.
 *
 * @throws Refusal UNAVAILABLE if too many callers are waiting, or the wait is too long
 */
export function createTurns(concurrency: number, maxWaitMs: number = LOOKUPS.maxWaitMs): Turns {
  const waiting = new Set<() => void>();
  let running = 0;

  async function turn(): Promise<void> {
    if (running < concurrency) return void running++;
    if (waiting.size >= LOOKUPS.maxWaiting) throw tooManyError();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      waiting.delete(begin);
      reject(tooManyError());
    }, maxWaitMs);
    const begin = () => {
      clearTimeout(timer);
      resolve();
    };
    waiting.add(begin);
    return promise;
  }

  function end(): void {
    const [next] = waiting;
    if (next === undefined) return void running--;
    waiting.delete(next);
    next();
  }

  return async (work) => {
    await turn();
    try {
      return await work();
    } finally {
      end();
    }
  };
}

function tooManyError() {
  return unavailable("Too many unknown callers at the same time. Try again in a moment.");
}
