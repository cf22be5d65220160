import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Account } from "./account.ts";
import { type Binaries, POSTGRES_ENVIRONMENT } from "./binaries.ts";
import { type DataFolder, syncToDisk } from "./data-folder.ts";
import { errorCode } from "./until.ts";

/** What runs on a cluster, and how. */
export interface Server {
  binaries: Binaries;
  /** Undefined for ourselves. */
  account: Account | undefined;
  /** False does without waiting for the disk. */
  durable: boolean;
}

/** The database's superuser, whom the URL names. */
export const USER = "shipments";

const DRAFT_PREFIX = "postgres.new-";

/**
 * The path by which PostgreSQL finds its folder when it is started inside it. Another account
 * than ours may be barred from the folders above (a clone under /root); this link of the
 * kernel's leads there without walking through them.
 */
const FOLDER_WE_ARE_IN = "/proc/self/cwd";

/** What PostgreSQL gets as -D: `cluster` itself, unless another account has to reach it. */
export function pathSeenBy(account: Account | undefined, cluster: string): string {
  return account === undefined ? cluster : FOLDER_WE_ARE_IN;
}

/**
 * Makes the cluster if there is none. Call it under the folder's lock.
 *
 * @param deadline epoch milliseconds
 * @throws Error when there is a cluster of another major version
 */
export async function haveCluster(
  folder: DataFolder,
  server: Server,
  deadline: number,
): Promise<void> {
  const major = majorOf(folder.cluster);
  const ours = server.binaries.major;
  if (major === undefined) return makeCluster(folder, server, deadline);
  if (major === String(ours)) return;
  throw new Error(
    `${folder.cluster} was made by PostgreSQL ${major} and this is PostgreSQL ` +
      `${ours}: move the data with pg_dump, or use another DATA_DIR`,
  );
}

function majorOf(cluster: string): string | undefined {
  try {
    return readFileSync(join(cluster, "PG_VERSION"), "utf8").trim();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Made apart and renamed when complete, so that a half-made cluster is never taken for one. */
async function makeCluster(folder: DataFolder, server: Server, deadline: number): Promise<void> {
  removeDrafts(folder);
  const draft = mkdtempSync(join(folder.root, DRAFT_PREFIX));
  try {
    const password = randomBytes(24).toString("base64url");
    await initdb(draft, password, server, deadline);
    writeFileSync(folder.password, password);
    if (server.durable) syncToDisk(folder.password);
    renameSync(join(draft, "cluster"), folder.cluster);
    if (server.durable) syncToDisk(folder.root);
  } catch (error) {
    if (errorCode(error) !== "ENOTEMPTY") throw error;
    throw new Error(`${folder.cluster} is in the way, and is no cluster`, { cause: error });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Left behind by a process that was killed while it made a cluster. */
function removeDrafts(folder: DataFolder): void {
  for (const name of readdirSync(folder.root)) {
    if (!name.startsWith(DRAFT_PREFIX)) continue;
    rmSync(join(folder.root, name), { recursive: true, force: true });
  }
}

async function initdb(
  draft: string,
  password: string,
  server: Server,
  deadline: number,
): Promise<void> {
  const { binaries, account, durable } = server;
  const cluster = join(draft, "cluster");
  const passwordFile = join(draft, "password");
  mkdirSync(cluster, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account) {
    for (const path of [draft, cluster, passwordFile]) chownSync(path, account.uid, account.gid);
  }
  const args = [
    "-D",
    pathSeenBy(account, cluster),
    "--pwfile=../password",
    "--auth=scram-sha-256",
    `--username=${USER}`,
    // The same order of strings on every machine, whatever its own locales are.
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    ...(durable ? [] : ["--no-sync"]),
  ];
  try {
    await promisify(execFile)(join(binaries.root, "bin", "initdb"), args, {
      ...account,
      cwd: cluster,
      env: POSTGRES_ENVIRONMENT,
      timeout: Math.max(1, deadline - Date.now()),
      killSignal: "SIGKILL",
    });
  } catch (cause) {
    const { stderr = "", message } = cause as { stderr?: string; message: string };
    throw new Error(`initdb failed: ${stderr.trim() || message}`, { cause });
  }
}
