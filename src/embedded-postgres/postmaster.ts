import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { attempt, until } from "./attempt.ts";

/** A running PostgreSQL, as its postmaster.pid describes it. */
export interface Postmaster {
  pid: number;
  port: number;
  ready: boolean;
}

/** Timeout of a fast shutdown, and of a following immediate shutdown, in milliseconds. */
const STOP_MS = 20_000;

/** Age below which a postmaster.pid may be incomplete, in milliseconds. */
const WRITING_MS = 2_000;

/**
 * Returns the PostgreSQL that runs on the cluster. Returns `undefined` if there is none, even if a killed PostgreSQL
 * has left its file. The lines of the file are declared in src/include/utils/pidfile.h.
 */
export function findPostmaster(cluster: string): Postmaster | undefined {
  const file = join(cluster, "postmaster.pid");
  const lines = attempt(() => readFileSync(file, "utf8").split("\n"), "ENOENT", "ENOTDIR") ?? [];
  const [pid, , , port, , , , status = ""] = lines;
  if (!pid || !port || !runsOn(pid, cluster)) return undefined;
  return { pid: Number(pid), port: Number(port), ready: status.trim() === "ready" };
}

/**
 * Stops PostgreSQL with a fast shutdown. If that takes too long, uses an immediate shutdown, after
 * which PostgreSQL recovers at its next start.
 */
export async function stopPostmaster(cluster: string, { pid }: Postmaster): Promise<void> {
  const stop = (signal: NodeJS.Signals) => {
    attempt(() => process.kill(pid, signal), "ESRCH");
    return until("PostgreSQL to stop", Date.now() + STOP_MS, () => !runsOn(pid, cluster));
  };
  await stop("SIGINT").catch(() => stop("SIGQUIT"));
}

/**
 * Removes remains of a killed PostgreSQL that prevent a start: a postmaster.pid whose process id now
 * belongs to another program, and orphaned child processes.
 */
export function removeRemains(cluster: string): void {
  const children = findChildren(cluster);
  // A postmaster writes its file before it starts children. Without a postmaster, all children are orphans.
  if (findPostmaster(cluster)) return;
  for (const pid of children) attempt(() => process.kill(Number(pid), "SIGKILL"), "ESRCH");
  const file = join(cluster, "postmaster.pid");
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
  if (Date.now() - written > WRITING_MS) rmSync(file, { force: true });
}

/** Returns the child processes of this cluster's postmaster. Works only on Linux. */
function findChildren(cluster: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((pid) => /^\d/.test(pid) && runsOn(pid, cluster))
    .filter((pid) => procFile(pid, "cmdline").startsWith("postgres: "));
}

/** Whether the process is a PostgreSQL that runs in the cluster's folder. */
function runsOn(pid: string | number, cluster: string): boolean {
  try {
    if (process.platform !== "linux") {
      const command = execFileSync("ps", ["-o", "command=", "-p", String(pid)], {
        encoding: "utf8",
      });
      return command.includes(`postgres -D ${cluster} `);
    }
    const [theirs, ours] = [statSync(`/proc/${pid}/cwd`), statSync(cluster)];
    const sameFolder = theirs.dev === ours.dev && theirs.ino === ours.ino;
    return sameFolder && procFile(pid, "comm") === "postgres\n";
  } catch {
    return false;
  }
}

/** Returns a file of a process in Linux's /proc. Returns empty text if the process has ended. */
function procFile(pid: string | number, name: string): string {
  return attempt(() => readFileSync(`/proc/${pid}/${name}`, "utf8"), "ENOENT", "ESRCH") ?? "";
}
