import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fchownSync, fstatSync, ftruncateSync, openSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { accountFor } from "./account.ts";
import { attempt, until } from "./attempt.ts";
import { ensureCluster } from "./cluster.ts";
import type { DataFolder } from "./data-folder.ts";
import { findPostmaster, removeRemains } from "./postmaster.ts";
import { commandOn, type Programs, programsFor } from "./programs.ts";

export interface StartOptions {
  /** Whether data survives a crash of the machine. Tests set it to false for speed. Default true. */
  durable?: boolean;
  /** Port to listen on. Defaults to the port of the last start if it is free, otherwise any free port. */
  port?: number;
}

/** The only address on which PostgreSQL listens. */
export const HOST = "127.0.0.1";

/** Log size above which the log is truncated at a start, in bytes. */
const LOG_LIMIT = 1_048_576;

/**
 * Matches log lines after which a retry can succeed: another process has started PostgreSQL or uses the port, or a
 * killed PostgreSQL has left files or processes.
 */
const TRANSIENT = /lock file "postmaster.pid"|Address already in use|pre-existing shared memory block/;

/**
 * Creates the cluster if it does not exist, and starts PostgreSQL on it. If several processes start it concurrently,
 * all but one detect its postmaster.pid and exit. Resolves when PostgreSQL accepts connections, or when a retry can
 * succeed.
 */
export async function startPostgres(
  folder: DataFolder,
  { durable = true, port }: StartOptions,
  deadline: number,
): Promise<void> {
  const { cluster } = folder;
  const programs = programsFor(accountFor(folder));
  ensureCluster(folder, programs, durable);
  const settings = settingsFor(durable, await portFor(cluster, port));
  const log = openLog(folder, programs);
  const begun = fstatSync(log).size;
  const hasEnded = await spawnPostgres(cluster, programs, settings, log);
  const isReady = () => findPostmaster(cluster)?.ready;
  await until("PostgreSQL to start", deadline, () => hasEnded() || isReady());
  if (findPostmaster(cluster)) return;
  const output = readFileSync(folder.log).subarray(begun).toString().trim();
  const end = output.split("\n").slice(-10).join("\n");
  if (!TRANSIENT.test(output)) throw new Error(`it exited:\n${end}`);
  removeRemains(cluster);
  await sleep(100);
}

/** Starts PostgreSQL in the background. Returns a function that checks whether it has exited. */
async function spawnPostgres(
  cluster: string,
  programs: Programs,
  settings: object,
  log: number,
): Promise<() => boolean> {
  const { file, args, options } = commandOn(cluster, programs, "postgres");
  for (const [name, value] of Object.entries(settings)) args.push("-c", `${name}=${value}`);
  // PostgreSQL runs in its own session, so that Ctrl-C in the terminal does not stop it.
  const child = spawn(file, args, { ...options, stdio: ["ignore", log, log], detached: true });
  closeSync(log);
  await once(child, "spawn");
  child.unref();
  return () => child.exitCode !== null || child.signalCode !== null;
}

function settingsFor(durable: boolean, port: number): object {
  return {
    listen_addresses: HOST,
    port,
    unix_socket_directories: "",
    // The limit is higher in tests, which run many services on one database.
    max_connections: durable ? 100 : 500,
    // This is a value for SSDs. With the default, PostgreSQL would cache plans that scan a small table,
    // and keep them after the table has grown.
    random_page_cost: 1.1,
    timezone: "UTC",
    log_timezone: "UTC",
    // The log stays small, because clients report their own errors.
    log_min_messages: "log",
    log_checkpoints: "off",
    ...(durable ? {} : { fsync: "off", full_page_writes: "off", max_wal_size: "256MB" }),
  };
}

/**
 * Returns the port to start on: the requested port, otherwise the port of the last start, which PostgreSQL stores with
 * its arguments, or any free port. Rejects if the requested port is taken.
 */
async function portFor(cluster: string, port: number | undefined): Promise<number> {
  if (port !== undefined) return freePort(port);
  const opts = attempt(() => readFileSync(join(cluster, "postmaster.opts"), "utf8"), "ENOENT");
  const latest = Number(/"port=(\d+)"/.exec(opts ?? "")?.[1] ?? 0);
  return freePort(latest).catch(() => freePort(0));
}

/** Returns the requested port if it is free, or any free port for 0. Rejects if the port is taken. */
async function freePort(preferred: number): Promise<number> {
  const server = createServer().listen(preferred, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function openLog(folder: DataFolder, { account }: Programs): number {
  const log = openSync(folder.log, "a", 0o600);
  if (account) fchownSync(log, account.uid, account.gid);
  if (fstatSync(log).size > LOG_LIMIT) ftruncateSync(log);
  return log;
}
