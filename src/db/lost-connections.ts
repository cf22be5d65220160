import type { Pool, PoolClient } from "pg";

/**
 * Makes a pool take back connections that are lost while they are in use. Kysely, below the ORM,
 * never releases a connection whose `begin` or `rollback` failed, so each would occupy a place in
 * the pool for ever.
 */
export function reclaimLostConnections(pool: Pool): void {
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  pool.connect = (async () => releasedWhenLost(await connect())) as Pool["connect"];
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
