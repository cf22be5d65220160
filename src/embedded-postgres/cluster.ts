import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, closeSync, existsSync, fsyncSync, linkSync, mkdirSync } from "node:fs";
import { mkdtempSync, openSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "./attempt.ts";
import type { DataFolder } from "./data-folder.ts";
import { commandOn, type Programs } from "./programs.ts";

/** Superuser of the database, as named in the URL. */
export const USER = "shipments";

const DRAFT_PREFIX = "postgres.new-";

/** Timeout of initdb, in milliseconds. A draft that is twice as old was left behind by a killed process. */
const INITDB_MS = 60_000;

/** Locale with the same string order on every machine. */
const LOCALE = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];

/**
 * Creates the cluster if it does not exist. Concurrent processes get the same cluster. Rejects a
 * cluster of another major version.
 */
export function ensureCluster(folder: DataFolder, programs: Programs, durable: boolean): void {
  const version = join(folder.cluster, "PG_VERSION");
  if (!existsSync(version)) makeCluster(folder, programs, durable);
  if (!existsSync(version)) throw new Error(`${folder.cluster} exists but is not a cluster`);
  const major = readFileSync(version, "utf8").trim();
  if (major === String(programs.major)) return;
  throw new Error(
    `${folder.cluster} was created by PostgreSQL ${major}, but this is PostgreSQL ` +
      `${programs.major}: move the data with pg_dump, or use another DATA_DIR`,
  );
}

/**
 * Creates a cluster under another name and renames it when it is complete, so that a partial cluster is never used.
 */
function makeCluster(folder: DataFolder, programs: Programs, durable: boolean): void {
  removeOldDrafts(folder.root);
  const draft = mkdtempSync(join(folder.root, DRAFT_PREFIX));
  try {
    havePassword(folder, draft);
    initdb(draft, programs, durable);
    attempt(() => renameSync(join(draft, "cluster"), folder.cluster), "ENOTEMPTY");
    if (durable) syncToDisk(folder.root);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function removeOldDrafts(root: string): void {
  for (const name of readdirSync(root).filter((entry) => entry.startsWith(DRAFT_PREFIX))) {
    const draft = join(root, name);
    const made = statSync(draft, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - made > 2 * INITDB_MS) rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * Stores the password of the cluster. A link is created atomically and only once, so concurrent
 * processes share one password.
 */
function havePassword(folder: DataFolder, draft: string): void {
  const proposed = join(draft, "proposed-password");
  writeFileSync(proposed, randomBytes(24).toString("base64url"), { mode: 0o600, flush: true });
  attempt(() => linkSync(proposed, folder.password), "EEXIST");
  linkSync(folder.password, join(draft, "password"));
}

function initdb(draft: string, programs: Programs, durable: boolean): void {
  const cluster = join(draft, "cluster");
  mkdirSync(cluster, 0o700);
  const { uid, gid } = programs.account ?? {};
  for (const path of [draft, cluster, join(draft, "password")]) {
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  }
  const { file, args, options } = commandOn(cluster, programs, "initdb");
  args.push(`--username=${USER}`, "--pwfile=../password", "--auth=scram-sha-256");
  args.push("--encoding=UTF8", ...LOCALE, ...(durable ? [] : ["--no-sync"]));
  const limits = { timeout: INITDB_MS, encoding: "utf8" } as const;
  const { status, stderr, error } = spawnSync(file, args, { ...options, ...limits });
  const reason = error?.message ?? /(?:FATAL|error): +(.*)/.exec(stderr)?.[1] ?? stderr;
  if (status !== 0) throw new Error(`initdb failed: ${reason}`);
}

function syncToDisk(folder: string): void {
  const fd = openSync(folder, "r");
  fsyncSync(fd);
  closeSync(fd);
}
