import { unavailable, type Refusal } from "../../domain/refusal.ts";

/**
 * The work that a process takes in flight, of which no account (a workspace, or an operator) has more
 * than its share.
 */
export interface Places {
  /** @throws Refusal UNAVAILABLE when all places are taken, or too many calls wait for one */
  assertSome(account: number | string): void;
  /** Whether an account may begin more work now. */
  has(account: number | string): boolean;
  /** Takes a place for work that has begun, until it ends. */
  track(account: number | string, work: Promise<unknown>): void;
  /** Begins work when other work of the account has ended, in the order of these calls. */
  runLater<T>(account: number | string, begin: () => T | Promise<T>): Promise<T>;
}

/** How much work one process has in flight at most; more is refused. */
const MAX_IN_FLIGHT = 1_000;
/** How much of it may be one account's; more waits. */
const MAX_OF_ACCOUNT = 250;
/** How many calls of one account may wait; more are refused. */
const MAX_WAITING = 10_000;

interface OfAccount {
  inFlight: number;
  readonly waiting: Set<() => void>;
  /** Ends a piece of work, and hands its place to the next that waits. */
  readonly ended: () => void;
}

/** Builds the places of one process. Work counts until it ends, even if its caller has left. */
export function createPlaces(): Places {
  const ofAccounts = new Map<number | string, OfAccount>();
  let inFlight = 0;

  function createOfAccount(account: number | string): OfAccount {
    const own: OfAccount = {
      inFlight: 0,
      waiting: new Set(),
      ended() {
        const [next] = own.waiting;
        if (next !== undefined) {
          own.waiting.delete(next);
          return next();
        }
        inFlight--;
        if (--own.inFlight === 0) ofAccounts.delete(account);
      },
    };
    return own;
  }

  return {
    assertSome(account) {
      if (inFlight >= MAX_IN_FLIGHT) throw overloadError("The service is overloaded");
      if ((ofAccounts.get(account)?.waiting.size ?? 0) < MAX_WAITING) return;
      throw overloadError("The caller has too many calls in flight");
    },
    has: (account) => (ofAccounts.get(account)?.inFlight ?? 0) < MAX_OF_ACCOUNT,
    track(account, work) {
      const own = ofAccounts.getOrInsertComputed(account, createOfAccount);
      inFlight++;
      own.inFlight++;
      work.then(own.ended, own.ended);
    },
    async runLater(account, begin) {
      const own = ofAccounts.get(account);
      if (own === undefined) throw new Error(`account ${account} has nothing to wait for`);
      const { promise, resolve } = Promise.withResolvers<void>();
      own.waiting.add(resolve);
      await promise;
      try {
        return await begin();
      } finally {
        own.ended();
      }
    },
  };
}

function overloadError(what: string): Refusal {
  return unavailable(`${what}; try again in a moment.`);
}
