import { execFileSync } from "node:child_process";
import { appendFileSync, chownSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { accountFor } from "../../src/embedded-postgres/account.ts";
import { freePort } from "../support/free-port.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

/** A Citus cluster on the loopback address. */
export interface Cluster {
  /** URL of each server for creating and dropping databases, coordinator first. */
  readonly nodes: readonly string[];
  /** Kills a node, like a power failure. */
  kill(node: string): void;
  restart(node: string): void;
  /** Starts another server without adding it to the cluster. Returns its URL. */
  add(): Promise<string>;
  /** Returns the log of a node so far. */
  log(node: string): string;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Number of servers. Three by default: a coordinator and two workers. */
  readonly count?: number;
  /** Lines for postgresql.conf that override the test settings. */
  readonly settings?: readonly string[];
}

/** Folder in which Debian installs parallel versions of PostgreSQL. */
const PROGRAMS = "/usr/lib/postgresql";
const SHARED = "/usr/share/postgresql";

/**
 * Returns the program folder of a PostgreSQL with Citus: CITUS_POSTGRES_BIN, or the newest version
 * from Debian that has the extension. `undefined` if absent.
 */
export function findPrograms(): string | undefined {
  const named = process.env.CITUS_POSTGRES_BIN;
  if (named) return named;
  if (!existsSync(SHARED)) return undefined;
  const version = readdirSync(SHARED)
    .toSorted((a, b) => Number(b) - Number(a))
    .find((it) => existsSync(join(SHARED, it, "extension/citus.control")));
  return version && join(PROGRAMS, version, "bin");
}

/** Returns lines for postgresql.conf. They turn off fsync, because test data need not survive a power failure. */
const settingsOf = (port: number, folder: string) => `
port = ${port}
listen_addresses = '127.0.0.1'
unix_socket_directories = '${folder}'
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=disable'
max_connections = 400
max_prepared_transactions = 400
max_worker_processes = 200
max_locks_per_transaction = 256
wal_level = logical
fsync = off
full_page_writes = off
`;

/** Starts servers that are not joined yet. They run as the current user, or as `postgres` if that is root. */
export async function startCluster(
  programs: string,
  { count = 3, settings = [] }: ClusterOptions = {},
): Promise<Cluster> {
  const folder = makeTemporaryFolder("shipments-citus");
  const account = accountFor({ root: folder, cluster: join(folder, "none") });
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  // The home folder contains the libpq settings with which the nodes connect to each other.
  const options = { ...account, cwd: folder, env: { HOME: folder }, stdio: "ignore" } as const;
  const run = (program: string, ...args: readonly string[]) => execFileSync(join(programs, program), args, options);
  const folderOf = (node: string) => join(folder, new URL(node).port);
  const start = (node: string) => run("pg_ctl", "-D", folderOf(node), "-l", `${folderOf(node)}.log`, "-w", "start");
  const nodes: string[] = [];
  const add = async () => {
    const port = await freePort();
    const node = `postgresql://postgres@127.0.0.1:${port}/postgres`;
    const text = ["--encoding=UTF8", "--locale=C.UTF-8"];
    run("initdb", "-D", folderOf(node), "-U", "postgres", "-A", "trust", ...text, "--no-sync");
    const lines = [settingsOf(port, folder), ...settings, ""];
    appendFileSync(join(folderOf(node), "postgresql.conf"), lines.join("\n"));
    nodes.push(node);
    start(node);
    return node;
  };
  const stop = async () => {
    for (const node of nodes) {
      try {
        run("pg_ctl", "-D", folderOf(node), "-m", "immediate", "stop");
      } catch {
        // The server is not running.
      }
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    while (nodes.length < count) await add();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    nodes,
    kill: (node) => run("pg_ctl", "-D", folderOf(node), "-m", "immediate", "-w", "stop"),
    restart: start,
    add,
    log: (node) => readFileSync(`${folderOf(node)}.log`, "utf8"),
    stop,
  };
}

/**
 * Creates the extension in a database that exists on each node, and joins the workers to their coordinator.
 *
 * @param nodes URLs as in `Cluster`
 */
export async function joinNodes(nodes: readonly string[], database: string): Promise<void> {
  const urls = nodes.map((node) => inDatabase(node, database));
  await Promise.all(urls.map((url) => runSql(url, "create extension citus")));
  const [coordinator, ...workers] = nodes.map((node) => new URL(node));
  await runSql(
    urls[0]!,
    `select citus_set_coordinator_host('${coordinator!.hostname}', ${coordinator!.port})`,
    ...workers.map(({ hostname, port }) => `select citus_add_node('${hostname}', ${port})`),
  );
}

/**
 * Drops a database on each node despite open connections.
 *
 * On a cluster, forbids new connections first. Otherwise the maintenance daemons of Citus, which
 * connect to the database on every node and restart when terminated, keep it in use for minutes. A
 * daemon that was already connecting is terminated by the next attempt.
 */
export async function dropDatabase(nodes: readonly string[], database: string): Promise<void> {
  const onEach = (run: (node: string) => Promise<unknown>) => Promise.all(nodes.map(run));
  if (nodes.length > 1) await onEach((node) => runSql(node, `alter database ${database} allow_connections false`));
  await onEach((node) => dropAt(node, database));
}

async function dropAt(node: string, database: string): Promise<void> {
  for (let left = 5; ; left -= 1) {
    try {
      await runSql(node, `drop database ${database} with (force)`);
      return;
    } catch (error) {
      const isInUse = error instanceof pg.DatabaseError && error.code === "55006";
      if (!isInUse || left === 0) throw error;
    }
  }
}

/** Returns the URL of a database on the same server as another URL. */
export function inDatabase(node: string, database: string): string {
  const url = new URL(node);
  url.pathname = database;
  return url.href;
}

/** Runs statements on a separate connection. Returns the last one's rows. */
export async function runSql(url: string, ...statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const sql of statements) ({ rows } = await client.query(sql));
    return rows;
  } finally {
    await client.end();
  }
}
