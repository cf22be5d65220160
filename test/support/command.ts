import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { eventually } from "./eventually.ts";
import { openDoors, type Doors } from "./service.ts";

const REPOSITORY = join(import.meta.dirname, "../..");

/** How long a command may take, in milliseconds, before it is killed. */
const COMMAND_MS = 120_000;

/** Where Node keeps compiled code from run to run: starting takes half as long. */
const COMPILE_CACHE = join(REPOSITORY, "node_modules/.cache/node-compile");

/** How long a service may take to open its doors, in milliseconds, with others starting besides. */
const LISTENING_MS = 50_000;

/** The environment a command sees beside PATH: nothing of the developer's own leaks in. */
export type Environment = Readonly<Record<string, string>>;

/** What a command that has ended left behind. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs in a process of its own. */
export interface Running {
  readonly process: ChildProcess;
  /** What it has printed so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Ended>;
}

/** A service that runs in a process of its own, with both doors open. */
export interface Served extends Running, Doors {
  /** Waits until calls are served. */
  untilReady(): Promise<void>;
  /** The log so far, line by line. */
  log(): LogLine[];
}

/** A line of the log; what else is on standard output is not one. */
export type LogLine = Readonly<Record<string, unknown>>;

/** Starts `shipments <args>`; when the test is over it is killed, should it still run. */
export function start(args: readonly string[], environment: Environment): Running {
  const child = spawn(process.execPath, ["src/cli.ts", ...args], {
    cwd: REPOSITORY,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: COMMAND_MS,
    killSignal: "SIGKILL",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then(([code]) => ({ code: code as number, stdout, stderr }));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { process: child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** Runs `shipments <args>` to its end. */
export function run(args: readonly string[], environment: Environment): Promise<Ended> {
  return start(args, environment).ended;
}

/**
 * Runs a command with `--json` that must succeed, and gives the object it prints, which must be all
 * that it prints.
 */
export async function runJson(args: readonly string[], environment: Environment): Promise<any> {
  const { stdout, ...rest } = await run([...args, "--json"], environment);
  expect(rest).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^\{.*\}\n$/);
  return JSON.parse(stdout);
}

/** Starts `shipments serve <args>` on free ports, and waits until its doors are open. */
export async function startServing(
  environment: Environment,
  args: readonly string[] = [],
): Promise<Served> {
  const running = start(["serve", ...args], { PORT: "0", GRPC_PORT: "0", ...environment });
  const log = () => logLines(running.stdout());
  const findListening = () => {
    const { exitCode, signalCode } = running.process;
    if (exitCode !== null || signalCode !== null) throw new Error(`it ended: ${running.stderr()}`);
    return log().find(({ msg }) => msg === "listening");
  };
  const listening = await eventually("the service to listen", findListening, LISTENING_MS);
  const doors = openDoors(listening.http as string, `http://${listening.grpc as string}`);
  return {
    ...running,
    ...doors,
    log,
    untilReady: async () => {
      await eventually("the service to be ready", async () => {
        const { status } = await doors.request("/readyz");
        return status === 200;
      });
    },
  };
}

/** The lines of a log; the last one only when it is complete. */
function logLines(stdout: string): LogLine[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LogLine);
}
