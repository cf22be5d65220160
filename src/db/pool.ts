import type { Pool, PoolClient } from "pg";
import type { DatabaseClient } from "./client.ts";
import type { EntityManager } from "./orm.ts";

/** The pool of an ORM's connections. */
export async function poolOf(em: EntityManager): Promise<Pool> {
  return (await em.getConnection().getNativeClient()) as Pool;
}

/** Takes a connection out of the pool, to be released. */
export async function connect(em: EntityManager): Promise<DatabaseClient & PoolClient> {
  return (await (await poolOf(em)).connect()) as DatabaseClient & PoolClient;
}

/** Gives a connection back. One that was just destroyed does not look so to the pool yet. */
export function release(client: PoolClient): void {
  client.release(client.connection.stream.destroyed);
}
