import pg, { type Pool } from "pg";
import { DatabaseClient } from "../client.ts";
import type { Connection } from "../servers.ts";

/**
 * A worker node of a distributed database. It plans statements on its own workspaces without the coordinator, so
 * that a transaction uses one server. Statements on other workspaces are forwarded, which is slower but correct.
 */
export interface Node {
  readonly pool: Pool;
  /** The coordinator is used instead until this time, on the clock of `performance.now()`. */
  avoidedUntilMs: number;
}

/** Time for which a node is avoided after a failed connection, in milliseconds. */
const AVOID_MS = 5_000;

/**
 * Opens a connection pool to a node with the coordinator's settings. It closes together with the coordinator's pool.
 */
export function openNode(coordinator: Omit<Pool, "query">, host: string, port: number): Node {
  const { connectionString, ...options } = coordinator.options;
  const pool = new pg.Pool({
    ...options,
    connectionString: connectionString!.replace(SERVER, `$1${host.includes(":") ? `[${host}]` : host}:${port}`),
    Client: DatabaseClient,
  });
  // The next connection attempt reports the error.
  pool.on("error", () => undefined);
  const end = coordinator.end.bind(coordinator) as () => Promise<void>;
  coordinator.end = (async () => {
    await Promise.all([pool.end(), end()]);
  }) as Pool["end"];
  return { pool, avoidedUntilMs: 0 };
}

/** Matches the start of a URL, up to and including host and port. */
const SERVER = /^([^:]+:\/\/(?:[^/?#]*@)?)[^/?#]*/;

/**
 * Acquires a connection to a node. After a failure, returns `undefined` for `AVOID_MS`. Then one caller
 * retries while other callers still get `undefined`.
 *
 * @throws Error if all connections of the pool stay in use
 */
export async function tryNode(node: Node): Promise<Connection["client"] | undefined> {
  const nowMs = performance.now();
  if (node.avoidedUntilMs > nowMs) return undefined;
  if (node.avoidedUntilMs > 0) node.avoidedUntilMs = nowMs + AVOID_MS;
  try {
    const client = await node.pool.connect();
    node.avoidedUntilMs = 0;
    return client as Connection["client"];
  } catch (error) {
    if (node.pool.totalCount >= node.pool.options.max) throw error;
    node.avoidedUntilMs = performance.now() + AVOID_MS;
    return undefined;
  }
}
