import { readFileSync } from "node:fs";
import pg from "pg";
import { USER } from "./cluster.ts";
import { type DataFolder, openDataFolder } from "./data-folder.ts";
import { findPostmaster, type Postmaster, stopPostmaster } from "./postmaster.ts";
import { platformPackage } from "./programs.ts";
import { HOST, startPostgres, type StartOptions } from "./start-postgres.ts";
import { until } from "./attempt.ts";

/** A lease on a running PostgreSQL. It is a connection, which ends together with its process. */
export interface Lease {
  /** URL for connecting to the database `shipments` as superuser. */
  readonly url: string;
  /** Resolves when the lease's connection has ended for any reason. */
  readonly lost: Promise<void>;
  /** Releases the lease. If it was the last lease, stops PostgreSQL first. Idempotent. */
  release(): Promise<void>;
}

const DATABASE = "shipments";

/**
 * Key of the advisory lock in the database `postgres` that all leases share. A process that holds the
 * lock exclusively may stop PostgreSQL. New processes then wait for the lock until their connection
 * ends, and start another server.
 */
const LEASE_LOCK = 7_265_401;

/** Maximum time until PostgreSQL accepts connections, in milliseconds. */
const ACQUIRE_MS = 60_000;

/**
 * Leases the PostgreSQL in `dataDir`. Creates the cluster if it does not exist, and starts PostgreSQL
 * if it is not running. A running PostgreSQL is joined even if the process that started it was killed.
 */
export async function acquireEmbeddedPostgres(dataDir: string, options: StartOptions = {}): Promise<Lease> {
  const deadline = Date.now() + ACQUIRE_MS;
  try {
    // The programs are checked before the folder is created. In the container image they are missing,
    // and the folder would be useless.
    platformPackage();
    const folder = openDataFolder(dataDir);
    return await until("PostgreSQL to accept connections", deadline, () => {
      const postmaster = findPostmaster(folder.cluster);
      if (postmaster) return postmaster.ready && takeLease(folder, postmaster);
      return startPostgres(folder, options, deadline).then(() => undefined);
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`no embedded PostgreSQL in ${dataDir}: ${reason}${adviceFor(reason)}`, { cause });
  }
}

async function takeLease(folder: DataFolder, postmaster: Postmaster): Promise<Lease | undefined> {
  const password = readFileSync(folder.password, "utf8").trim();
  const server = `postgresql://${USER}:${password}@${HOST}:${postmaster.port}`;
  const client = await connect(`${server}/postgres`);
  if (!client) return undefined;
  const lost = new Promise<void>((resolve) => client.once("end", () => resolve()));
  let released: Promise<void> | undefined;

  async function release(): Promise<void> {
    const isLast = await releaseLock(client!).catch(() => undefined);
    if (isLast) await stopPostmaster(folder.cluster, postmaster);
    await client!.end();
    if (isLast !== undefined || !findPostmaster(folder.cluster)) return;
    // The connection was lost. PostgreSQL may be recovering without any lease, so a new lease is
    // acquired and released to stop it.
    await (await acquireEmbeddedPostgres(folder.root)).release();
  }

  return { url: `${server}/${DATABASE}`, lost, release: () => (released ??= release()) };
}

/** Opens the connection of a lease. Returns `undefined` while PostgreSQL is starting, stopping or not running. */
async function connect(connectionString: string): Promise<pg.Client | undefined> {
  const limits = { connectionTimeoutMillis: 5_000, query_timeout: 30_000 };
  const client = new pg.Client({ connectionString, ...limits });
  // The interrupted query or the lease also reports the lost connection.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select pg_advisory_lock_shared($1)", [LEASE_LOCK]);
    const found = await client.query("select from pg_database where datname = $1", [DATABASE]);
    if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
    return client;
  } catch (error) {
    await client.end();
    if (isPermanent(error)) throw error;
    return undefined;
  }
}

/** Returns whether this was the last lease. The client then holds the lock exclusively. */
async function releaseLock(client: pg.Client): Promise<boolean> {
  await client.query("select pg_advisory_unlock_shared($1)", [LEASE_LOCK]);
  const lock = await client.query("select pg_try_advisory_lock($1) as alone", [LEASE_LOCK]);
  return lock.rows[0].alone;
}

/**
 * Whether an error is permanent. Errors are temporary if PostgreSQL is not running, starting or stopping
 * (class 57) or full (class 53), or if another process is creating the database (42P04, 23505).
 */
function isPermanent(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(5[37]|42P04|23505)/.test(error.code ?? "");
}

function adviceFor(reason: string): string {
  if (/ENOSPC|No space left|wrote only/.test(reason)) return "; free disk space, or choose another DATA_DIR";
  const denied = /^(EACCES|EPERM|EROFS|ENOENT|ENOTDIR): |Permission denied/.test(reason);
  return denied ? "; choose a DATA_DIR that this account may write to, or set DATABASE_URL" : "";
}
