import { LRUCache } from "lru-cache";
import { unavailable } from "../../domain/refusal.ts";
import { LOOK_UPS } from "../bounds/limits.ts";
import type { FailedAttempts } from "./failed-attempts.ts";

/** Looks credentials up, so that guessing costs others nothing. */
export interface LookUps {
  /**
   * Looks a credential up. Unless it was good when it was last looked up here, it counts against its
   * address until it is found, and waits while a few others are looked up. One that was good counts by
   * itself: those who guess at its address do not get in its way.
   *
   * @throws Refusal RATE_LIMITED, or UNAVAILABLE when too many wait or it has waited too long, and
   * whatever `find` throws
   */
  find<T>(
    credential: string,
    options: {
      readonly attempts: FailedAttempts;
      readonly address: string;
      readonly find: () => Promise<T | undefined>;
    },
  ): Promise<T | undefined>;
  trust(credential: string): void;
}

/** How many credentials are remembered to be good; the one used longest ago is forgotten first. */
const MAX_GOOD = 10_000;

export function createLookUps(maxWaitMs?: number): LookUps {
  const good = new LRUCache<string, true>({ max: MAX_GOOD });
  const inTurn = createTurns(LOOK_UPS.atOnce, maxWaitMs);
  return {
    async find(credential, { attempts, address, find }) {
      const wasGood = good.has(credential);
      const found = wasGood
        ? await attempts.make(credential, find)
        : await attempts.make(address, () => inTurn(find));
      if (found === undefined) good.delete(credential);
      else good.set(credential, true);
      return found;
    },
    trust: (credential) => void good.set(credential, true),
  };
}

/** Runs work, a few at a time; the rest waits in its order. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** @throws Refusal UNAVAILABLE when too much waits, or has waited too long */
export function createTurns(atOnce: number, maxWaitMs: number = LOOK_UPS.maxWaitMs): Turns {
  const waiting = new Set<() => void>();
  let running = 0;

  async function turn(): Promise<void> {
    if (running < atOnce) return void running++;
    if (waiting.size >= LOOK_UPS.maxWaiting) throw tooManyError();
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

  /** Hands the turn to the next that waits. */
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
  return unavailable("Too many unknown callers came at the same time; try again in a moment.");
}
