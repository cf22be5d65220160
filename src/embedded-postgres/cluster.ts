import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, closeSync, existsSync, fsyncSync, linkSync, mkdirSync } from "node:fs";
import { mkdtempSync, openSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Account } from "./account.ts";
import { attempt } from "./attempt.ts";
import { type Binaries, POSTGRES_ENVIRONMENT } from "./binaries.ts";
import type { DataFolder } from "./data-folder.ts";

/** What runs on a cluster, and how. */
export interface Program {
  binaries: Binaries;
  /** Undefined for ourselves. */
  account: Account | undefined;
  /** False does without waiting for the disk. */
  durable: boolean;
}

/** The database's superuser, whom the URL names. */
export const USER = "shipments";

const DRAFT_PREFIX = "postgres.new-";

/** How long initdb may take; an older draft was left behind by a process that was killed. */
const INITDB_MS = 60_000;

/**
 * What PostgreSQL gets as -D when it is started inside its folder. Another account than ours may
 * be barred from the folders above (a clone under /root); the kernel's link leads around them.
 */
export function pathSeenBy(account: Account | undefined, cluster: string): string {
  return account === undefined ? cluster : "/proc/self/cwd";
}

/**
 * Makes the cluster if there is none. Processes that do so at once end up with the same one.
 *
 * @throws Error when there is a cluster of another major version
 */
export async function haveCluster(folder: DataFolder, program: Program): Promise<void> {
  const version = join(folder.cluster, "PG_VERSION");
  if (!existsSync(version)) await makeCluster(folder, program);
  if (!existsSync(version)) throw new Error(`${folder.cluster} is in the way, and is no cluster`);
  const [major, ours] = [readFileSync(version, "utf8").trim(), program.binaries.major];
  if (major === String(ours)) return;
  throw new Error(
    `${folder.cluster} was made by PostgreSQL ${major} and this is PostgreSQL ` +
      `${ours}: move the data with pg_dump, or use another DATA_DIR`,
  );
}

/** Made apart and renamed when complete, so that a half-made cluster is never taken for one. */
async function makeCluster(folder: DataFolder, program: Program): Promise<void> {
  removeOldDrafts(folder.root);
  const draft = mkdtempSync(join(folder.root, DRAFT_PREFIX));
  try {
    havePassword(folder, draft);
    await initdb(draft, program);
    attempt(() => renameSync(join(draft, "cluster"), folder.cluster), "ENOTEMPTY");
    if (program.durable) syncToDisk(folder.root);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function removeOldDrafts(root: string): void {
  for (const name of readdirSync(root).filter((name) => name.startsWith(DRAFT_PREFIX))) {
    const made = statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - made > 2 * INITDB_MS)
      rmSync(join(root, name), { recursive: true, force: true });
  }
}

/** A link is made whole and only once, so processes that make a password at once share one. */
function havePassword(folder: DataFolder, draft: string): void {
  const proposed = join(draft, "proposed-password");
  writeFileSync(proposed, randomBytes(24).toString("base64url"), { mode: 0o600, flush: true });
  attempt(() => linkSync(proposed, folder.password), "EEXIST");
  linkSync(folder.password, join(draft, "password"));
}

async function initdb(draft: string, { binaries, account, durable }: Program): Promise<void> {
  const cluster = join(draft, "cluster");
  mkdirSync(cluster, { mode: 0o700 });
  if (account) {
    const { uid, gid } = account;
    for (const path of [draft, cluster, join(draft, "password")]) chownSync(path, uid, gid);
  }
  const args = ["-D", pathSeenBy(account, cluster), "--auth=scram-sha-256"];
  args.push(`--username=${USER}`, "--pwfile=../password");
  // The same order of strings on every machine, whatever its own locales are.
  args.push("--encoding=UTF8", "--locale=C");
  args.push("--locale-provider=builtin", "--builtin-locale=C.UTF-8");
  if (!durable) args.push("--no-sync");
  const options = { ...account, cwd: cluster, env: POSTGRES_ENVIRONMENT, timeout: INITDB_MS };
  try {
    await promisify(execFile)(join(binaries.root, "bin", "initdb"), args, options);
  } catch (cause) {
    const { stderr = "", message } = cause as { stderr?: string; message: string };
    throw new Error(`initdb failed: ${stderr.trim() || message}`, { cause });
  }
}

/** Makes the names in a folder survive a power cut. */
function syncToDisk(folder: string): void {
  const fd = openSync(folder, "r");
  fsyncSync(fd);
  closeSync(fd);
}
