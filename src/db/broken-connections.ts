import type { Socket } from "node:net";
import type { Pool, PoolClient } from "pg";

/**
 * Keeps broken connections from filling a pool. Kysely, below the ORM, never gives a connection
 * back whose `begin` or `rollback` failed, so that one lost in the middle of a transaction would
 * take its place for ever; and pg goes on using a connection on which a query has timed out, though
 * everything sent later waits behind that query.
 */
export function discardBrokenConnections(pool: Pool): void {
  pool.on("connect", endWhenTimedOut);
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  pool.connect = (async () => releasedWhenLost(await connect())) as Pool["connect"];
}

/** Gives a connection back when it is lost; whoever had it may then give it back once more. */
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

/** Cuts a connection at the first query that times out, which ends all that wait behind it. */
function endWhenTimedOut(client: PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  client.query = ((...args: unknown[]) => {
    const answer = query(...args);
    if (answer instanceof Promise) {
      answer.catch((error: Error) => {
        if (error.message === "Query read timeout") stream.destroy();
      });
    }
    return answer;
  }) as PoolClient["query"];
}
