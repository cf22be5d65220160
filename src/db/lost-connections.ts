import type { Pool, PoolClient } from "pg";

type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

/**
 * Makes a pool take back connections that are lost while they are in use. Kysely, below the ORM,
 * never releases a connection whose `begin` or `rollback` failed, so each would occupy a place in
 * the pool for ever.
 *
 * @param waited called with how long a connection was waited for, in milliseconds, had or not; 0 when
 *   one was idle that nobody else waited for
 */
export function reclaimLostConnections(pool: Pool, waited: (ms: number) => void): void {
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  const connectReleased = async () => {
    // A pool hands out what is idle at the end of the tick, to those who wait, in order.
    if (pool.idleCount > pool.waitingCount) {
      waited(0);
      return releasedWhenLost(await connect());
    }
    const startedMs = performance.now();
    try {
      return releasedWhenLost(await connect());
    } finally {
      waited(performance.now() - startedMs);
    }
  };
  pool.connect = ((callback?: ConnectCallback) => {
    if (callback === undefined) return connectReleased();
    connectReleased().then(
      (client) => callback(undefined, client, client.release),
      (error: Error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }) as Pool["connect"];
}

/** Releases a connection when it is lost; whoever uses it may then release it once more. */
function releasedWhenLost(client: PoolClient): PoolClient {
  const giveBack = client.release;
  const release = (error?: Error | boolean) => {
    client.off("end", discard);
    client.release = () => undefined;
    giveBack(error);
  };
  const discard = () => release(true);
  client.once("end", discard);
  client.release = release;
  return client;
}
