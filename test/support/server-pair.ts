import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chownSync, closeSync, openSync, readFileSync } from "node:fs";
import { rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { accountFor } from "../../src/embedded-postgres/account.ts";
import { ensureCluster, USER } from "../../src/embedded-postgres/cluster.ts";
import { openDataFolder, type DataFolder } from "../../src/embedded-postgres/data-folder.ts";
import { findPostmaster, removeRemains, stopPostmaster } from "../../src/embedded-postgres/postmaster.ts";
import { commandOn, programsFor } from "../../src/embedded-postgres/programs.ts";
import { HOST } from "../../src/embedded-postgres/start-postgres.ts";
import { eventually } from "./eventually.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

/** One of the two PostgreSQL servers. */
export interface PairServer {
  /** URL for connecting to this server only, as a superuser. */
  readonly url: string;
  /** Runs one statement on a new connection and returns its rows. */
  query(sql: string): Promise<any[]>;
  /** Promotes a standby. Resolves when it is writable. */
  promote(): Promise<void>;
  /** Kills all server processes at once, like a power failure. */
  kill(): void;
  /** Restarts the server as a standby of the other server. */
  startAsStandby(): Promise<void>;
  /** Restarts or continues the server as a primary without synchronous standbys. */
  startAlone(): Promise<void>;
}

/** Two PostgreSQL servers with synchronous replication. */
export interface ServerPair {
  /** URL that lists both servers. The service finds the primary. */
  readonly url: string;
  /** The initial primary. */
  readonly first: PairServer;
  /** The initial synchronous standby. */
  readonly second: PairServer;
  /** Stops both servers and removes their files. */
  close(): Promise<void>;
}

const DATABASE = "shipments";
/** PostgreSQL settings. fsync is off, because tests kill only processes. */
const SETTINGS = {
  listen_addresses: HOST,
  unix_socket_directories: "",
  max_connections: 200,
  fsync: "off",
  timezone: "UTC",
  wal_keep_size: "512MB",
};

/** Starts a primary with an empty database and a synchronous standby. */
export async function startServerPair(): Promise<ServerPair> {
  const folder = makeTemporaryFolder("shipments-pair");
  const [firstPort, secondPort] = [await freePort(), await freePort()];
  const first = serverIn(join(folder, "first"), firstPort, secondPort);
  const second = serverIn(join(folder, "second"), secondPort, firstPort);
  const close = async () => {
    await Promise.all([first.stop(), second.stop()]);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    first.make();
    await first.start();
    await first.queryIn("postgres", `create database ${DATABASE}`);
    await first.copyTo(second.folder);
    await second.startAsStandby();
    await first.query("alter system set synchronous_standby_names = '*'");
    await first.query("select pg_reload_conf()");
    await eventually("the standby to be synchronous", async () => {
      const rows = await first.query("select from pg_stat_replication where sync_state = 'sync'");
      return rows.length === 1;
    });
  } catch (error) {
    await close();
    throw error;
  }
  const hosts = `${HOST}:${firstPort},${HOST}:${secondPort}`;
  const url = first.url.replace(`${HOST}:${firstPort}`, hosts);
  return { url: `${url}?target_session_attrs=read-write`, first, second, close };
}

/** Returns a server for a folder. The server's files are not created yet. */
function serverIn(path: string, port: number, otherPort: number) {
  const folder = openDataFolder(path);
  const { cluster } = folder;
  const urlOf = (database: string, at: number) =>
    `postgres://${USER}:${readFileSync(folder.password, "utf8").trim()}@${HOST}:${at}/${database}`;
  const queryIn = async (database: string, sql: string): Promise<any[]> => {
    const client = new pg.Client(urlOf(database, port));
    client.on("error", () => undefined);
    try {
      await client.connect();
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };

  async function start(): Promise<void> {
    await run(folder, port);
    await eventually(`a response from the server at port ${port}`, () =>
      queryIn("postgres", "select").then(
        () => true,
        () => false,
      ),
    );
  }

  return {
    folder,
    get url() {
      return urlOf(DATABASE, port);
    },
    make: () => ensureCluster(folder, programsFor(accountFor(folder)), false),
    start,
    queryIn,
    query: (sql: string) => queryIn(DATABASE, sql),
    async promote() {
      const client = new pg.Client(urlOf(DATABASE, port));
      await client.connect();
      try {
        await client.query("select pg_promote(false)");
        await eventually("the promotion", async () => {
          const { rows } = await client.query("select pg_is_in_recovery() as standby");
          return !rows[0].standby;
        });
      } finally {
        await client.end();
      }
    },
    copyTo: (target: DataFolder) => copyServer(folder, target, urlOf("postgres", port)),
    kill() {
      const postmaster = findPostmaster(cluster);
      if (postmaster !== undefined) process.kill(postmaster.pid, "SIGKILL");
      removeRemains(cluster);
    },
    async startAsStandby() {
      writeOwned(folder, "standby.signal", "");
      const primary = urlOf("postgres", otherPort);
      appendFileSync(
        join(cluster, "postgresql.auto.conf"),
        `\nprimary_conninfo = '${primary}'\nsynchronous_standby_names = ''\n`,
      );
      await start();
    },
    async startAlone() {
      rmSync(join(cluster, "standby.signal"), { force: true });
      appendFileSync(join(cluster, "postgresql.auto.conf"), "\nsynchronous_standby_names = ''\n");
      if (findPostmaster(cluster) === undefined) await start();
      else await queryIn("postgres", "select pg_reload_conf()");
    },
    async stop() {
      const postmaster = findPostmaster(cluster);
      if (postmaster !== undefined) await stopPostmaster(cluster, postmaster);
    },
  };
}

/** Copies a running server's files like a base backup (PostgreSQL manual, section 25.3.4). */
async function copyServer(from: DataFolder, to: DataFolder, url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query("select pg_backup_start('copy', true)");
    // Preserves file owners, which Node's copy does not.
    await promisify(execFile)("cp", ["-a", from.password, from.cluster, to.root]);
    rmSync(join(to.cluster, "postmaster.pid"));
    const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
    writeOwned(to, "backup_label", rows[0].labelfile);
  } finally {
    await client.end();
  }
}

/** Writes a file into the cluster's folder, owned by the user that runs PostgreSQL. */
function writeOwned(folder: DataFolder, name: string, text: string): void {
  const file = join(folder.cluster, name);
  writeFileSync(file, text);
  const account = accountFor(folder);
  if (account !== undefined) chownSync(file, account.uid, account.gid);
}

/** Starts PostgreSQL in the background. */
async function run(folder: DataFolder, port: number): Promise<void> {
  const { cluster } = folder;
  const programs = programsFor(accountFor(folder));
  const { file, args, options } = commandOn(cluster, programs, "postgres");
  for (const [name, value] of Object.entries({ ...SETTINGS, port })) {
    args.push("-c", `${name}=${value}`);
  }
  const log = openSync(folder.log, "a", 0o600);
  const child = spawn(file, args, { ...options, stdio: ["ignore", log, log], detached: true });
  closeSync(log);
  await once(child, "spawn");
  child.unref();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
