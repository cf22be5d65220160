import type { Pool, PoolClient } from "pg";
import type { ConnectionShares } from "./connection-shares.ts";

type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

/**
 * Makes a pool hand out connections by shares, and take back those that are lost while they are in
 * use. Kysely, below the ORM, never releases a connection whose `begin` or `rollback` failed, so each
 * would occupy a place in the pool for ever.
 *
 * @param waited called with the wait for a connection, in milliseconds, failed waits included; 0 when one
 *   was idle that nobody else waited for
 */
export function guardConnections(
  pool: Pool,
  shares: ConnectionShares,
  waited: (ms: number) => void,
): void {
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  const connectReleased = async () => {
    const startedMs = performance.now();
    const taken = shares.take();
    // A pool hands out what is idle at the end of the tick, to those who wait, in order.
    const isIdle = !(taken instanceof Promise) && pool.idleCount > pool.waitingCount;
    let giveBack: (() => void) | undefined;
    try {
      giveBack = taken instanceof Promise ? await taken : taken;
      return releasedWhenLost(await connect(), giveBack);
    } catch (error) {
      giveBack?.();
      throw error;
    } finally {
      waited(isIdle ? 0 : performance.now() - startedMs);
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

/**
 * Releases a connection when it is lost; whoever uses it may then release it once more.
 *
 * @param released called when it is released
 */
function releasedWhenLost(client: PoolClient, released: () => void): PoolClient {
  const giveBack = client.release;
  const release = (error?: Error | boolean) => {
    client.off("end", discard);
    client.release = () => undefined;
    giveBack(error);
    released();
  };
  const discard = () => release(true);
  client.once("end", discard);
  client.release = release;
  return client;
}
