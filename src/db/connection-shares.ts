import { AsyncLocalStorage } from "node:async_hooks";
import type { Pool, PoolClient } from "pg";
import { OverloadedError } from "./database-error.ts";

/** Account on whose behalf a connection is used. `undefined` for the service. */
type Account = number | string;

/** Maximum time that a call waits for a connection, in milliseconds, unless a test overrides it. */
export const MAX_WAIT_MS = 2_000;

const accounts = new AsyncLocalStorage<Account | undefined>();

/** Starts work whose connections count towards an account's share. */
export function onBehalfOf<T>(account: Account, work: () => T): T {
  return accounts.run(account, work);
}

/** Starts work that serves several calls or outlives its caller. Its connections count towards no account's share. */
export function onBehalfOfAll<T>(work: () => T): T {
  return accounts.exit(work);
}

export type ConnectionShares = ReturnType<typeof createConnectionShares>;

interface Share {
  inUse: number;
  readonly waiting: Set<() => void>;
}

const NOTHING = () => undefined;

/** Creates shares of a pool with `most` connections each. Calls wait up to `maxWaitMs`. */
export function createConnectionShares(most: number, maxWaitMs = MAX_WAIT_MS) {
  const shares = new Map<Account, Share>();
  let waiting = 0;

  /** Returns a function that passes the slot to the next waiting call. Further calls of the function are no-ops. */
  function releaseOnce(account: Account, share: Share): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const [next] = share.waiting;
      if (next !== undefined) {
        share.waiting.delete(next);
        return next();
      }
      if (--share.inUse === 0) shares.delete(account);
    };
  }

  async function acquireLater(account: Account, share: Share): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      share.waiting.delete(resolve);
      reject(new OverloadedError());
    }, maxWaitMs);
    share.waiting.add(resolve);
    waiting++;
    try {
      await promise;
      return releaseOnce(account, share);
    } finally {
      clearTimeout(timer);
      waiting--;
    }
  }

  return {
    /**
     * Acquires a connection of the account's share and returns its release function. Rejects with
     * OverloadedError after `maxWaitMs`.
     */
    acquire(): (() => void) | Promise<() => void> {
      const account = accounts.getStore();
      if (account === undefined) return NOTHING;
      const share = shares.getOrInsertComputed(account, () => ({ inUse: 0, waiting: new Set() }));
      if (share.inUse >= most) return acquireLater(account, share);
      share.inUse++;
      return releaseOnce(account, share);
    },
    waiting: () => waiting,
  };
}

/**
 * Makes a pool limit each account to its share, and release connections that are lost while in use. Kysely, used by the
 * ORM, never releases a connection whose `begin` or `rollback` failed, so each lost connection would occupy a slot of
 * the pool forever. `pool.query` no longer works, because it calls `connect` with a callback.
 *
 * @param observeWait called with the wait time for a connection, in milliseconds, including failed waits. 0 if
 *   an idle one was available
 */
export function guardConnections(pool: Pool, shares: ConnectionShares, observeWait: (ms: number) => void): void {
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  pool.connect = (async () => {
    const startedMs = performance.now();
    const acquired = shares.acquire();
    const isIdle = !(acquired instanceof Promise) && pool.idleCount > pool.waitingCount;
    let release: (() => void) | undefined;
    try {
      // An available share is not awaited. The pool then counts this call before the next call reads `waitingCount`.
      release = acquired instanceof Promise ? await acquired : acquired;
      return releasedWhenLost(await connect(), release);
    } catch (error) {
      release?.();
      throw error;
    } finally {
      observeWait(isIdle ? 0 : performance.now() - startedMs);
    }
  }) as Pool["connect"];
}

/** Makes a connection release itself when it is lost. A later release by its user is a no-op. */
function releasedWhenLost(client: PoolClient, released: () => void): PoolClient {
  const releaseClient = client.release;
  const release = (error?: Error | boolean) => {
    client.off("end", discard);
    client.release = () => undefined;
    releaseClient(error);
    released();
  };
  const discard = () => release(true);
  client.once("end", discard);
  client.release = release;
  return client;
}
