import { spawn, spawnSync } from "node:child_process";
import { interrupted } from "./interruption.ts";

/** How to run a command. */
export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

/**
 * Runs a command to its end, which comes early when the bench is interrupted.
 *
 * @returns what it wrote on standard output
 * @throws Error with what it wrote on standard error, when it fails
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  { env, ...rest }: CommandOptions = {},
): Promise<string> {
  interrupted.throwIfAborted();
  const child = spawn(command, args, {
    ...rest,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    signal: interrupted,
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => (output[name] += text));
  }
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0) return output.stdout;
  throw new Error(`${command} ended with ${code}: ${output.stderr}${output.stdout}`);
}

/** Whether there is such a command on this machine. */
export function isInstalled(command: string): boolean {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).error === undefined;
}
