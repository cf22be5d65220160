import { spawn } from "node:child_process";
import { once } from "node:events";
import type { CommandResult } from "./command.ts";
import { whenOver } from "./when-over.ts";

/** Runs a program until it exits. Services in this process keep serving. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<CommandResult> {
  const child = spawn(command, args, {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  whenOver(() => child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = await once(child, "close");
  return { code: code as number | null, stdout, stderr };
}
