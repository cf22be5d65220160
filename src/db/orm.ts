import { MikroORM, type EntityManager, type EntitySchema, type Options } from "@mikro-orm/postgresql";
import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { parseDatabaseUrl } from "./database-url.ts";
import { ParameterizedDriver } from "./parameterized-driver.ts";
import { setMigrationSettings, setServingSettings } from "./connection-settings.ts";
import { createConnectionShares, guardConnections, MAX_WAIT_MS, type ConnectionShares } from "./connection-shares.ts";
import { clientClass } from "./primary-client.ts";

/** Connection timeouts in milliseconds. pg sends the first three to the server. */
const TIMEOUTS = {
  statement_timeout: 5_000,
  lock_timeout: 3_000,
  idle_in_transaction_session_timeout: 10_000,
  connectionTimeoutMillis: MAX_WAIT_MS,
  query_timeout: 8_000,
} as const;
/** Maximum size of a process's connection pool, in connections. */
export const MAX_CONNECTIONS = 20;
/** Maximum number of connections for the calls of one account, so that half of them remain for other accounts. */
export const MAX_CONNECTIONS_OF_ACCOUNT = MAX_CONNECTIONS / 2;
/**
 * Maximum number of connections per process: the pool, the change feed, and three that read large
 * tariffs (active, scheduled, draft).
 */
export const MAX_PROCESS_CONNECTIONS = MAX_CONNECTIONS + 4;
const IDLE_MS = 10_000;

export interface DatabaseDeps {
  readonly em: EntityManager;
}

export interface PoolObserver {
  /** Called when the pool and its shares are created, on first use of the ORM. */
  created(
    pool: Pick<Pool, "totalCount" | "idleCount" | "waitingCount">,
    shares: Pick<ConnectionShares, "waiting">,
  ): void;
  /** Called with the waiting time for a pool connection, in milliseconds, even if the wait failed. */
  waited(ms: number): void;
}

export interface OrmOptions {
  readonly entities: readonly EntitySchema[];
  readonly log?: Logger;
  readonly poolObserver?: PoolObserver;
  /**
   * Whether to disable statement timeouts, as migrations require. The lock timeout remains, because
   * calls queue behind a waiting migration. Default false.
   */
  readonly unlimited?: boolean;
  /** Maximum wait for any database operation, in milliseconds. Tests set it. */
  readonly maxWaitMs?: number | undefined;
  /** Settings for finding, applying or writing migrations. Without them `orm.migrator` is unavailable. */
  readonly migrator?: Pick<Options, "extensions" | "migrations">;
}

/**
 * Creates the ORM for one database. Connects on first use. Fork `em` for every unit of work, and call
 * `close()` at the end.
 */
export function createOrm(databaseUrl: string, options: OrmOptions): MikroORM {
  return new MikroORM(ormOptions(databaseUrl, options));
}

export type { EntityManager };

function ormOptions(
  databaseUrl: string,
  { entities, log, poolObserver, unlimited = false, maxWaitMs, migrator }: OrmOptions,
): Options {
  const [firstUrl] = parseDatabaseUrl(databaseUrl).urls;
  return {
    driver: ParameterizedDriver,
    clientUrl: firstUrl!,
    entities: [...entities],
    discovery: { warnWhenNoEntities: false },
    ...migrator,
    pool: { min: 0, max: MAX_CONNECTIONS },
    driverOptions: {
      ...(unlimited
        ? { onConnect: (it: PoolClient) => setMigrationSettings(it, TIMEOUTS.lock_timeout) }
        : { ...timeoutsWith(maxWaitMs), onConnect: setServingSettings }),
      // MikroORM ignores URL parameters such as sslmode, but pg reads them.
      connectionString: firstUrl,
      keepAlive: true,
      // Lets pg send statements without waiting for earlier responses.
      pipeline: true,
      idleTimeoutMillis: IDLE_MS,
      application_name: "shipments",
      Client: clientClass(databaseUrl),
      onPoolCreated(pool: Pool) {
        const shares = createConnectionShares(MAX_CONNECTIONS_OF_ACCOUNT, maxWaitMs);
        poolObserver?.created(pool, shares);
        guardConnections(pool, shares, (ms) => poolObserver?.waited(ms));
      },
    },
    // No relation is bidirectional, and the accessors that MikroORM would define on every property of
    // every row take a third of the time of a list call.
    propagationOnPrototype: false,
    // The SQL of batch updates lists the rows as alternatives, which prevents a single index scan, and varies with the
    // number of rows.
    useBatchUpdates: false,
    colors: false,
    logger: (message: string) => log?.debug(message),
  };
}

function timeoutsWith(maxWaitMs?: number) {
  if (maxWaitMs === undefined) return TIMEOUTS;
  return Object.fromEntries(Object.keys(TIMEOUTS).map((name) => [name, maxWaitMs]));
}
