import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join as joinPath } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { accountFor } from "./account.ts";
import { binariesFor } from "./binaries.ts";
import { haveCluster, pathSeenBy, type Server, USER } from "./cluster.ts";
import { type DataFolder, makeFifo, openDataFolder } from "./data-folder.ts";
import { withFolderLock } from "./folder-lock.ts";
import {
  type Hold,
  isGuarded,
  joinGuardian,
  letGo,
  nobodyHolds,
  startGuardian,
  untilGuardianGone,
} from "./guardian.ts";
import { readPostmasterFile, stopPostgresOn } from "./processes.ts";
import { until } from "./until.ts";

const DATABASE = "shipments";
const HOST = "127.0.0.1";
const ENDED = Symbol("PostgreSQL has ended");

export interface EmbeddedPostgresOptions {
  /** False gives up surviving a crash of the whole machine, for speed in tests. Default true. */
  durable?: boolean;
  /** How long to try before giving up, in milliseconds; the same again for a release. */
  timeoutMs?: number;
}

export interface HeldPostgres {
  /**
   * Connects as superuser to the database `shipments`. A folder keeps its port from start to start
   * for as long as nobody else takes it.
   */
  url: string;
  /** Whether it still runs; false once it has ended without being told to. */
  isUp(): boolean;
  /**
   * Lets go of the database. When nobody else holds it, it is stopped, and has stopped when
   * the promise resolves. Calling it again does nothing more.
   */
  release(): Promise<void>;
}

/**
 * Holds the PostgreSQL whose files live in `dataDir`: makes it if there is none, starts it if
 * it does not run, joins it if other processes of ours run it already. It runs until its last
 * holder has released it or has ended, in whatever way.
 *
 * @throws Error with a sentence for the operator, when it cannot be had within the time limit
 */
export async function holdEmbeddedPostgres(
  dataDir: string,
  options: EmbeddedPostgresOptions = {},
): Promise<HeldPostgres> {
  const { durable = true, timeoutMs = 60_000 } = options;
  try {
    refuseOtherSystems();
    const folder = openDataFolder(dataDir);
    const deadline = Date.now() + timeoutMs;
    const { hold, url } = await withFolderLock(folder, deadline, async () => {
      makeFifo(folder);
      return (await join(folder, deadline)) ?? (await start(folder, durable, deadline));
    });
    let released: Promise<void> | undefined;
    return {
      url,
      isUp: () => released === undefined && isGuarded(hold),
      release: () => (released ??= release(folder, hold, timeoutMs)),
    };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`no embedded PostgreSQL in ${dataDir}: ${reason}`, { cause });
  }
}

function refuseOtherSystems(): void {
  if (process.platform === "linux" || process.platform === "darwin") return;
  throw new Error("it is made for Linux and macOS; set DATABASE_URL to use another");
}

/** A hold on a PostgreSQL that lets one log in at `url`. */
interface Ready {
  hold: Hold;
  url: string;
}

async function join(folder: DataFolder, deadline: number): Promise<Ready | undefined> {
  return onceReady(folder, await joinGuardian(folder, deadline), deadline);
}

async function start(folder: DataFolder, durable: boolean, deadline: number): Promise<Ready> {
  await stopPostgresOn(folder.cluster, deadline);
  const account = accountFor(folder.cluster);
  const server = { binaries: binariesFor(account), account, durable };
  await haveCluster(folder, server, deadline);
  for (let before = portBefore(folder); ; before = 0) {
    const port = await freePort(before).catch(() => freePort(0));
    writeFileSync(folder.port, `${port}\n`);
    const command = postgresCommand(folder, server, port);
    const guardian = await startGuardian(folder, command, account, deadline);
    const ready = await onceReady(folder, guardian, deadline);
    if (ready) return ready;
    const said = lastLines(folder.log);
    if (!passesByItself(said) || Date.now() >= deadline) throw new Error(`it ended:\n${said}`);
    await sleep(100);
  }
}

/** Waits until one can log in. When PostgreSQL ends instead, lets go and returns undefined. */
async function onceReady(
  folder: DataFolder,
  hold: Hold | undefined,
  deadline: number,
): Promise<Ready | undefined> {
  if (!hold) return undefined;
  try {
    const url = await until("PostgreSQL to accept connections", deadline, async () =>
      isGuarded(hold) ? await logIn(folder) : ENDED,
    );
    if (url !== ENDED) return { hold, url };
  } catch (error) {
    letGo(hold);
    throw error;
  }
  letGo(hold);
  return undefined;
}

function postgresCommand(folder: DataFolder, server: Server, port: number): string[] {
  const { binaries, account, durable } = server;
  const settings = {
    listen_addresses: HOST,
    port,
    unix_socket_directories: "",
    // Tests run many services on one database.
    max_connections: durable ? 100 : 500,
    timezone: "UTC",
    log_timezone: "UTC",
    // Its clients report their own errors: so the log, emptied at every start, stays small.
    log_min_messages: "log",
    log_checkpoints: "off",
    ...(durable ? {} : { fsync: "off", full_page_writes: "off", max_wal_size: "256MB" }),
  };
  return [
    joinPath(binaries.root, "bin", "postgres"),
    "-D",
    pathSeenBy(account, folder.cluster),
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
}

/** The port of the start before, or 0. */
function portBefore(folder: DataFolder): number {
  return Number(readFileSync(folder.port, "utf8"));
}

/**
 * The wished-for port, or with 0 any, free at this moment; should another process take it first,
 * the start is tried again. Rejects when it is taken.
 */
function freePort(wished: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(wished, HOST, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** Somebody took the port, or the processes of a killed PostgreSQL are still ending. */
function passesByItself(said: string): boolean {
  return /Address already in use|pre-existing shared memory block/.test(said);
}

function lastLines(log: string): string {
  return readFileSync(log, "utf8").trim().split("\n").slice(-10).join("\n");
}

/**
 * The URL of our database, which is made if it is not there; undefined when PostgreSQL does not
 * accept connections, whatever the file it left behind may say.
 */
async function logIn(folder: DataFolder): Promise<string | undefined> {
  const postmaster = readPostmasterFile(folder.cluster);
  if (!postmaster?.ready) return undefined;
  const password = readFileSync(folder.password, "utf8").trim();
  const server = `postgresql://${USER}:${password}@${HOST}:${postmaster.port}`;
  const client = new pg.Client({
    connectionString: `${server}/postgres`,
    connectionTimeoutMillis: 5_000,
    query_timeout: 30_000,
  });
  // The connection's end is also reported by the query it interrupts.
  client.on("error", () => {});
  try {
    await client.connect();
    const found = await client.query("select from pg_database where datname = $1", [DATABASE]);
    if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
    return `${server}/${DATABASE}`;
  } catch (error) {
    if (isRefusal(error)) throw error;
    return undefined;
  } finally {
    await client.end();
  }
}

/** Unlike a PostgreSQL that is not there, starts, stops (class 57) or is full (class 53). */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^5[37]/.test(error.code ?? "");
}

async function release(folder: DataFolder, hold: Hold, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  letGo(hold);
  if (!existsSync(folder.hold)) return untilGuardianGone(hold, deadline);
  await withFolderLock(folder, deadline, async () => {
    if (!nobodyHolds(folder)) return;
    await untilGuardianGone(hold, deadline);
    // Does nothing unless somebody killed the guardian.
    await stopPostgresOn(folder.cluster, deadline);
  });
}
