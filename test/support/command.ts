import { AsyncLocalStorage } from "node:async_hooks";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { runCommandLine } from "../../src/commands/program.ts";

const REPOSITORY = join(import.meta.dirname, "../..");

/** Environment variables of a command in addition to PATH, isolated from the developer's. */
export type Environment = Readonly<Record<string, string>>;

/** Exit code and output of a command that has exited. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs in a separate process. */
export interface Running {
  readonly process: ChildProcess;
  /** Standard output so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<CommandResult>;
}

/** Starts `shipments <args>` in a separate process, which is killed at the end of the test. */
export function startCommand(
  args: readonly string[],
  environment: Environment,
  stdin: "ignore" | "pipe" = "ignore",
): Running {
  const cached = { NODE_COMPILE_CACHE: env["NODE_COMPILE_CACHE"]!, ...environment };
  const all = ["src/cli.js", ...args];
  return startProcess(process.execPath, all, cached, { stdin });
}

/** Starts a program in a folder, by default this repository. The test kills it at its end. */
export function startProcess(
  file: string,
  args: readonly string[],
  environment: Environment,
  { cwd = REPOSITORY, stdin = "ignore" }: { readonly cwd?: string; readonly stdin?: "ignore" | "pipe" } = {},
): Running {
  const child = spawn(file, args, {
    cwd,
    env: { PATH: process.env.PATH, ...environment },
    stdio: [stdin, "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then(([code]) => ({ code: code as number, stdout, stderr }));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { process: child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** Standard streams for a command that runs in this process. */
interface Terminal {
  readonly env: Environment;
  stdout: string;
  stderr: string;
}

const terminals = new AsyncLocalStorage<Terminal>();
const { env } = process;
Object.defineProperty(process, "env", { get: () => terminals.getStore()?.env ?? env });
for (const name of ["stdout", "stderr"] as const) {
  const stream = process[name];
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  stream.write = (text: unknown, ...rest: unknown[]) => {
    const terminal = terminals.getStore();
    if (terminal === undefined) return write(text, ...rest);
    terminal[name] += String(text);
    return true;
  };
}

/** Runs `shipments <args>` in this process. Starting a process takes longer than most commands. */
export async function runCommand(args: readonly string[], environment: Environment): Promise<CommandResult> {
  const terminal = { env: environment, stdout: "", stderr: "" };
  const code = await terminals.run(terminal, () => runCommandLine(["node", "shipments", ...args]));
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

/** Runs `shipments <args>` in a separate process until it exits. */
export function runProcess(args: readonly string[], environment: Environment): Promise<CommandResult> {
  return startCommand(args, environment).ended;
}

/** Runs a command with `--json` that must succeed, and returns the printed object. */
export async function runJson(args: readonly string[], environment: Environment, run = runCommand): Promise<any> {
  const { stdout, ...rest } = await run([...args, "--json"], environment);
  expect(rest).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^\{.*\}\n$/);
  return JSON.parse(stdout);
}
