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
  /** False gives up surviving a crash of the whole machine, for speed in tests. Default true. */
  durable?: boolean;
  /** Default that of the latest start if it is free, or else any. */
  port?: number;
}

/** The only address PostgreSQL listens at. */
export const HOST = "127.0.0.1";

/** The size of the log above which a start empties it, in bytes. */
const LOG_LIMIT = 1_048_576;

/** Another process was faster to start it or to take the port, or a killed one left remains. */
const TRANSIENT =
  /lock file "postmaster.pid"|Address already in use|pre-existing shared memory block/;

/**
 * Makes the cluster if there is none, and starts PostgreSQL on it. Of several that are started at
 * once, all but one find its postmaster.pid and end. Resolves when one accepts connections, or
 * when another try is worth it.
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
  const said = readFileSync(folder.log).subarray(begun).toString().trim();
  const end = said.split("\n").slice(-10).join("\n");
  if (!TRANSIENT.test(said)) throw new Error(`it ended:\n${end}`);
  removeRemains(cluster);
  await sleep(100);
}

/** Starts it in the background; gives a function that tells whether it has ended. */
async function spawnPostgres(
  cluster: string,
  programs: Programs,
  settings: object,
  log: number,
): Promise<() => boolean> {
  const { file, args, options } = commandOn(cluster, programs, "postgres");
  for (const [name, value] of Object.entries(settings)) args.push("-c", `${name}=${value}`);
  // A session of its own: Ctrl-C in our terminal must not reach the database.
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
    // Tests run many services on one database.
    max_connections: durable ? 100 : 500,
    // As on SSDs. A plan that reads a small table whole would be kept when the table has grown.
    random_page_cost: 1.1,
    timezone: "UTC",
    log_timezone: "UTC",
    // Its clients report their own errors: so the log stays small.
    log_min_messages: "log",
    log_checkpoints: "off",
    ...(durable ? {} : { fsync: "off", full_page_writes: "off", max_wal_size: "256MB" }),
  };
}

/** Rejects when a port was asked for and is taken. PostgreSQL keeps its latest arguments. */
async function portFor(cluster: string, port: number | undefined): Promise<number> {
  if (port !== undefined) return freePort(port);
  const opts = attempt(() => readFileSync(join(cluster, "postmaster.opts"), "utf8"), "ENOENT");
  const latest = Number(/"port=(\d+)"/.exec(opts ?? "")?.[1] ?? 0);
  return freePort(latest).catch(() => freePort(0));
}

/** The wished-for port, or with 0 any, free at this moment. Rejects when it is taken. */
async function freePort(wished: number): Promise<number> {
  const server = createServer().listen(wished, HOST);
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
