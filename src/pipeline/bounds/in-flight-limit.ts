import { unavailable, type Refusal } from "../../domain/refusal.ts";
import { IN_FLIGHT } from "./limits.ts";

/** Limit on the calls in flight in a process and per account. */
export type InFlightLimit = ReturnType<typeof createInFlightLimit>;

interface AccountQueue {
  inFlight: number;
  readonly waiting: Set<() => void>;
  readonly end: () => void;
}

export function createInFlightLimit() {
  const accounts = new Map<number | string, AccountQueue>();
  let inFlight = 0;

  function createQueue(account: number | string): AccountQueue {
    const queue: AccountQueue = {
      inFlight: 0,
      waiting: new Set(),
      end() {
        const [next] = queue.waiting;
        if (next !== undefined) {
          queue.waiting.delete(next);
          return next();
        }
        inFlight--;
        if (--queue.inFlight === 0) accounts.delete(account);
      },
    };
    return queue;
  }

  async function enqueue<T>(queue: AccountQueue, begin: () => T | Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.waiting.add(resolve);
    await promise;
    try {
      return await begin();
    } finally {
      queue.end();
    }
  }

  return {
    /**
     * @throws Refusal UNAVAILABLE if the process is at its limit, or too many calls of the account are waiting
     */
    assertCapacity(account: number | string): void {
      if (inFlight >= IN_FLIGHT.ofProcess) throw overloadError("The service is overloaded");
      if ((accounts.get(account)?.waiting.size ?? 0) < IN_FLIGHT.waitingOfAccount) return;
      throw overloadError("The caller has too many calls in flight");
    },
    /**
     * Starts work, or queues it if the account is at its limit. Work counts until it finishes, even if
     * its caller has disconnected.
     */
    run<T>(account: number | string, begin: () => T | Promise<T>): T | Promise<T> {
      const full = accounts.get(account);
      if (full !== undefined && full.inFlight >= IN_FLIGHT.ofAccount) return enqueue(full, begin);
      const work = begin();
      if (work instanceof Promise) {
        const queue = accounts.getOrInsertComputed(account, createQueue);
        inFlight++;
        queue.inFlight++;
        work.then(queue.end, queue.end);
      }
      return work;
    },
  };
}

function overloadError(what: string): Refusal {
  return unavailable(`${what}. Try again in a moment.`);
}
