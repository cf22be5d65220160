import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "./until.ts";

/** What postmaster.pid says of a running PostgreSQL. */
export interface Postmaster {
  pid: number;
  port: number;
  ready: boolean;
}

/** How long each way of stopping has before the next, ruder one is used. */
const FAST_STOP_MS = 20_000;
const IMMEDIATE_STOP_MS = 8_000;

/**
 * What stands in postmaster.pid, whether or not it is still true; undefined when there is none
 * or it is not yet written in full. PostgreSQL declares its lines in src/include/utils/pidfile.h.
 */
export function readPostmasterFile(cluster: string): Postmaster | undefined {
  let lines;
  try {
    lines = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  const [pid, , , port, , , , status = ""] = lines;
  if (!pid || !port) return undefined;
  return { pid: Number(pid), port: Number(port), ready: status.trim() === "ready" };
}

/**
 * Stops every PostgreSQL process that runs on the cluster, politely at first, and removes what
 * is left of a dead one's postmaster.pid: with the number taken by another process since, that
 * file would keep PostgreSQL from starting. Call it under the folder's lock, when no guardian
 * does the same.
 *
 * @param deadline epoch milliseconds
 */
export async function stopPostgresOn(cluster: string, deadline: number): Promise<void> {
  const since = Date.now();
  const sent = new Map<number, NodeJS.Signals>();
  for (;;) {
    const postmaster = readPostmasterFile(cluster)?.pid;
    const running = postgresProcessesOn(cluster, postmaster);
    if (running.length === 0) break;
    if (Date.now() >= deadline) {
      throw new Error(`gave up waiting for PostgreSQL processes to end: ${running.join(", ")}`);
    }
    // Its children end with it; those of a dead one are told themselves.
    const told = running.filter((pid) => pid === postmaster);
    for (const pid of told.length > 0 ? told : running) {
      const signal = signalAfter(Date.now() - since, pid === postmaster);
      if (sent.get(pid) !== signal) sendSignal(pid, signal);
      sent.set(pid, signal);
    }
    await sleep(10);
  }
  rmSync(join(cluster, "postmaster.pid"), { force: true });
}

/** Whether a process lives; one that only waits to be reaped does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
  return !isZombie(pid);
}

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one, which it recovers from. */
function signalAfter(elapsedMs: number, isPostmaster: boolean): NodeJS.Signals {
  const politeMs = isPostmaster ? FAST_STOP_MS : 0;
  if (elapsedMs < politeMs) return "SIGINT";
  return elapsedMs < politeMs + IMMEDIATE_STOP_MS ? "SIGQUIT" : "SIGKILL";
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}

/** A container's first process may reap no orphans: there a dead one stays in the list. */
function isZombie(pid: number): boolean {
  if (process.platform !== "linux") return false;
  const stat = readUnlessGone(`/proc/${pid}/stat`);
  return stat === undefined || /^\d+ \(.*\) Z/s.test(stat);
}

/** Linux tells where a process works; elsewhere only the postmaster's command line does. */
function postgresProcessesOn(cluster: string, postmaster: number | undefined): number[] {
  if (process.platform !== "linux") {
    return postmaster !== undefined && commandNames(postmaster, cluster) ? [postmaster] : [];
  }
  const folder = statSync(cluster, { throwIfNoEntry: false });
  if (!folder) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readUnlessGone(`/proc/${pid}/comm`) === "postgres\n")
    .filter((pid) => {
      const cwd = workingFolder(pid);
      return cwd?.dev === folder.dev && cwd.ino === folder.ino;
    })
    .map(Number);
}

function workingFolder(pid: string) {
  try {
    return statSync(`/proc/${pid}/cwd`, { throwIfNoEntry: false });
  } catch (error) {
    if (isGoneOrForeign(error)) return undefined;
    throw error;
  }
}

function readUnlessGone(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isGoneOrForeign(error)) return undefined;
    throw error;
  }
}

function isGoneOrForeign(error: unknown): boolean {
  return ["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(errorCode(error) ?? "");
}

function commandNames(pid: number, cluster: string): boolean {
  try {
    const command = execFileSync("ps", ["-o", "command=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: "pipe",
    });
    return command.includes("postgres") && command.includes(`-D ${cluster}`);
  } catch {
    return false;
  }
}
