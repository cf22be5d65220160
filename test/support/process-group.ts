import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";

/** Kills the process group when this process exits or is killed, because that closes the other end of the pipe. */
const START = '{ read -r _; kill -KILL 0; } <&3 >/dev/null 2>&1 & exec "$@" 3<&-';

/**
 * Starts a program in a separate process group, so that all its children can be killed together. They are also killed
 * if this process is, for example because the tests are interrupted.
 */
export function spawnGroup(
  program: string,
  args: readonly string[],
  { stdio, ...options }: SpawnOptions & { readonly stdio: readonly ("ignore" | "inherit" | "pipe")[] },
): { readonly leader: ChildProcess; kill(): void } {
  const leader = spawn("sh", ["-c", START, "sh", program, ...args], {
    ...options,
    stdio: [...stdio, "pipe"],
    detached: true,
  });
  return { leader, kill: () => void process.kill(-leader.pid!, "SIGKILL") };
}
