import {
  MikroORM,
  type EntityManager,
  type EntitySchema,
  type Options,
} from "@mikro-orm/postgresql";
import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { parseDatabaseUrl } from "./database-url.ts";
import { ParameterizedDriver } from "./parameterized-driver.ts";
import { setMigrationTimeouts, setPlannerSettings } from "./connection-settings.ts";
import {
  createConnectionShares,
  guardConnections,
  MAX_WAIT_MS,
  type ConnectionShares,
} from "./connection-shares.ts";
import { clientClass } from "./primary-client.ts";

/** Timeouts of a connection, in milliseconds; pg passes the first three on to the server. */
const TIMEOUTS = {
  statement_timeout: 5_000,
  lock_timeout: 3_000,
  idle_in_transaction_session_timeout: 10_000,
  connectionTimeoutMillis: MAX_WAIT_MS,
  query_timeout: 8_000,
} as const;
/** How many connections the pool of one process holds at most. */
export const MAX_CONNECTIONS = 20;
/** How many of them one account's calls hold at most, so that as many are left for others. */
export const MAX_CONNECTIONS_OF_ACCOUNT = MAX_CONNECTIONS / 2;
/**
 * How many connections one process holds at most: the pool, one that listens for changes, and three
 * that read large tariffs: the one in force, the one that takes effect soon, and a draft.
 */
export const MAX_PROCESS_CONNECTIONS = MAX_CONNECTIONS + 4;
const IDLE_MS = 10_000;

export interface DatabaseDeps {
  readonly em: EntityManager;
}

export interface PoolObserver {
  /** Called when the pool and its shares are made, at the first use of the ORM. */
  created(
    pool: Pick<Pool, "totalCount" | "idleCount" | "waitingCount">,
    shares: Pick<ConnectionShares, "waiting">,
  ): void;
  /** Called with the wait for a pool connection, in milliseconds, failed waits included. */
  waited(ms: number): void;
}

export interface OrmOptions {
  readonly entities: readonly EntitySchema[];
  readonly log?: Logger;
  readonly poolObserver?: PoolObserver;
  /**
   * Without the timeouts of calls, as migrations need, but that for locks: while a migration waits for
   * a table, calls wait behind it. Default false.
   */
  readonly unlimited?: boolean;
  /** How long anything of the database is waited for, in milliseconds, where a test says so. */
  readonly maxWaitMs?: number | undefined;
  /** What finds, applies or writes migrations; without it there is no `orm.migrator`. */
  readonly migrator?: Pick<Options, "extensions" | "migrations">;
}

/**
 * Creates the ORM for one database. Connects on first use. Fork its `em` for every unit of work and
 * `close()` it at the end.
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
        ? { onConnect: (it: PoolClient) => setMigrationTimeouts(it, TIMEOUTS.lock_timeout) }
        : { ...timeoutsWith(maxWaitMs), onConnect: setPlannerSettings }),
      // MikroORM reads no parameters of the address, such as sslmode; pg does.
      connectionString: firstUrl,
      keepAlive: true,
      // Statements are sent without waiting for the answers to those before them.
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
    // No relation here has two sides to keep in step, and the accessors that MikroORM would otherwise
    // define on every property of every row cost a third of a list.
    propagationOnPrototype: false,
    // One statement for several rows names them as alternatives, which no single index scan finds, and
    // has a text for each number of them.
    useBatchUpdates: false,
    colors: false,
    logger: (message: string) => log?.debug(message),
  };
}

function timeoutsWith(maxWaitMs?: number) {
  if (maxWaitMs === undefined) return TIMEOUTS;
  return Object.fromEntries(Object.keys(TIMEOUTS).map((name) => [name, maxWaitMs]));
}
