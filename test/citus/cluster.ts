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
  /** Of each server, where databases are made and dropped; the coordinator's first. */
  readonly nodes: readonly string[];
  /** Ends a node at once, as a power cut would. */
  kill(node: string): void;
  restart(node: string): void;
  /** Starts one more server, which none knows yet. */
  add(): Promise<string>;
  /** What a node has logged so far. */
  log(node: string): string;
  stop(): Promise<void>;
}

/** How a cluster is started. */
export interface ClusterOptions {
  /** How many servers there are: unless given, a coordinator and two workers. */
  readonly count?: number;
  /** Lines of postgresql.conf, which count rather than those of tests. */
  readonly settings?: readonly string[];
}

/** As Debian installs versions of PostgreSQL beside each other. */
const PROGRAMS = "/usr/lib/postgresql";
const SHARED = "/usr/share/postgresql";

/**
 * Where the programs of a PostgreSQL with Citus are: the folder in CITUS_POSTGRES_BIN, else Debian's of the
 * newest version that has the extension; undefined when there is none.
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

/** Without waiting for the disk: what a test writes need not outlive a power cut. */
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

/** Starts servers that do not know each other yet. As `postgres`, or whoever else is not root. */
export async function startCluster(
  programs: string,
  { count = 3, settings = [] }: ClusterOptions = {},
): Promise<Cluster> {
  const folder = makeTemporaryFolder("shipments-citus");
  const account = accountFor({ root: folder, cluster: join(folder, "none") });
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  // The nodes connect to each other, with what libpq finds in the home folder.
  const options = { ...account, cwd: folder, env: { HOME: folder }, stdio: "ignore" } as const;
  const run = (program: string, ...args: readonly string[]) =>
    execFileSync(join(programs, program), args, options);
  const place = (node: string) => join(folder, new URL(node).port);
  const start = (node: string) =>
    run("pg_ctl", "-D", place(node), "-l", `${place(node)}.log`, "-w", "start");
  const nodes: string[] = [];
  const add = async () => {
    const port = await freePort();
    const node = `postgresql://postgres@127.0.0.1:${port}/postgres`;
    const text = ["--encoding=UTF8", "--locale=C.UTF-8"];
    run("initdb", "-D", place(node), "-U", "postgres", "-A", "trust", ...text, "--no-sync");
    const lines = [settingsOf(port, folder), ...settings, ""];
    appendFileSync(join(place(node), "postgresql.conf"), lines.join("\n"));
    nodes.push(node);
    start(node);
    return node;
  };
  const stop = async () => {
    for (const node of nodes) {
      try {
        run("pg_ctl", "-D", place(node), "-m", "immediate", "stop");
      } catch {
        // It does not run.
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
    kill: (node) => run("pg_ctl", "-D", place(node), "-m", "immediate", "-w", "stop"),
    restart: start,
    add,
    log: (node) => readFileSync(`${place(node)}.log`, "utf8"),
    stop,
  };
}

/**
 * Makes the extension in a database that each node has, and has its coordinator know the others.
 *
 * @param nodes as of a Cluster
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
 * Drops a database of each node, whoever is connected.
 *
 * On a cluster nobody may connect any more before it goes: else the maintenance daemons of Citus, which
 * connect to it on every node and start anew when they are ended, keep it in use for minutes. One that
 * was about to connect still does, and ends with the next attempt.
 */
export async function dropDatabase(nodes: readonly string[], database: string): Promise<void> {
  const onEach = (run: (node: string) => Promise<unknown>) => Promise.all(nodes.map(run));
  if (nodes.length > 1)
    await onEach((node) => runSql(node, `alter database ${database} allow_connections false`));
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

/** The URL of a database on the server of another. */
export function inDatabase(node: string, database: string): string {
  const url = new URL(node);
  url.pathname = database;
  return url.href;
}

/** Runs statements on a connection of their own, and gives the rows of the last. */
export async function runSql(
  url: string,
  ...statements: readonly string[]
): Promise<Record<string, unknown>[]> {
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
