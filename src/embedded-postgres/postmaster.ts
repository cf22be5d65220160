import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "./attempt.ts";
import { until } from "./until.ts";

/** A running PostgreSQL, as its postmaster.pid describes it. */
export interface Postmaster {
  pid: number;
  port: number;
  /** Whether it accepts connections. */
  ready: boolean;
}

/** How long a fast shutdown may take before PostgreSQL is told to end at once, in milliseconds. */
const FAST_STOP_MS = 20_000;

/** A postmaster.pid younger than this may still be being written, in milliseconds. */
const WRITING_MS = 2_000;

/**
 * The PostgreSQL that runs on the cluster; undefined when none does, whatever the file that a
 * killed one left behind may say. Its lines are declared in src/include/utils/pidfile.h.
 */
export function findPostmaster(cluster: string): Postmaster | undefined {
  const file = join(cluster, "postmaster.pid");
  const lines = attempt(() => readFileSync(file, "utf8").split("\n"), "ENOENT", "ENOTDIR") ?? [];
  const [pid, , , port, , , , status = ""] = lines;
  if (!pid || !port || !runsOn(pid, cluster)) return undefined;
  return { pid: Number(pid), port: Number(port), ready: status.trim() === "ready" };
}

/**
 * Stops PostgreSQL by a fast shutdown, or else by an immediate one, from which it recovers at its
 * next start. Resolves when it has ended.
 *
 * @param deadline epoch milliseconds
 */
export async function stopPostmaster(cluster: string, pid: number, deadline: number) {
  const hasEnded = () => !runsOn(pid, cluster);
  attempt(() => process.kill(pid, "SIGINT"), "ESRCH");
  try {
    await until("PostgreSQL to stop", Date.now() + FAST_STOP_MS, hasEnded);
  } catch {
    attempt(() => process.kill(pid, "SIGQUIT"), "ESRCH");
    await until("PostgreSQL to stop", deadline, hasEnded);
  }
}

/**
 * Removes what hinders a start: a postmaster.pid whose number another program has by now, and
 * processes of a killed postmaster that are too busy to notice its end.
 */
export function removeRemains(cluster: string): void {
  const file = join(cluster, "postmaster.pid");
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
  const isOld = Date.now() - written > WRITING_MS;
  if (isOld && findPostmaster(cluster) === undefined) rmSync(file, { force: true });
  if (process.platform !== "linux") return;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (isOrphan(pid, cluster)) attempt(() => process.kill(Number(pid), "SIGKILL"), "ESRCH");
  }
}

/** Whether it is a process of the cluster, but neither a postmaster nor the child of one. */
function isOrphan(pid: string, cluster: string): boolean {
  if (!runsOn(pid, cluster) || !procFile(pid, "cmdline").startsWith("postgres: ")) return false;
  const parent = /^\d+ \(.*\) \S (\d+)/s.exec(procFile(pid, "stat"))?.[1];
  return parent !== undefined && !runsOn(parent, cluster);
}

/** Whether the process is a PostgreSQL that works in the cluster's folder, and has not ended. */
function runsOn(pid: string | number, cluster: string): boolean {
  try {
    if (process.platform === "linux") {
      const [theirs, ours] = [statSync(`/proc/${pid}/cwd`), statSync(cluster)];
      const sameFolder = theirs.dev === ours.dev && theirs.ino === ours.ino;
      return sameFolder && procFile(pid, "comm") === "postgres\n";
    }
    const ps = ["-o", "command=", "-p", String(pid)];
    return execFileSync("ps", ps, { encoding: "utf8" }).includes(`postgres -D ${cluster} `);
  } catch {
    return false;
  }
}

/** What Linux tells of a process; nothing of one that has ended. */
function procFile(pid: string | number, name: string): string {
  return attempt(() => readFileSync(`/proc/${pid}/${name}`, "utf8"), "ENOENT", "ESRCH") ?? "";
}
