import { execFile, fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../support/free-port.ts";

const interruption = new AbortController();
/**
 * Aborts at SIGINT or SIGTERM. Each case then stops its processes. The signal can arrive twice,
 * from the terminal and from npm.
 */
export const interrupted: AbortSignal = interruption.signal;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => interruption.abort(new Error(`ended by ${signal}`)));
}

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const cliOf = (repository: string) => join(repository || REPOSITORY, "src/cli.js");
/** Variables that processes inherit. Settings are not among them. */
const { PATH, HOME, TMPDIR } = process.env;
const ENVIRONMENT = { PATH, HOME, TMPDIR, NODE_ENV: "production" };
/** Maximum startup time of a server, in milliseconds. */
const READY_MS = 60_000;
/** Poll interval during startup, in milliseconds. */
const POLL_MS = 5;

/** Loopback ports of a server. 0 for protocols that it does not support. */
export interface Ports {
  readonly http: number;
  readonly grpc: number;
}

/** A server that runs in a separate process. */
export interface ServerProcess {
  readonly pid: number;
  readonly ports: Ports;
}

/**
 * Starts the product with `serve` and without a log, and waits until it is ready.
 *
 * @param environment DATABASE_URL, or DATA_DIR for the embedded database. For shared ports also
 * PORT, GRPC_PORT and OPERATIONS_PORT
 * @param repository a built clone, by default this repository
 */
export async function startProduct(
  owned: AsyncDisposableStack,
  environment: Readonly<Record<string, string>>,
  repository = "",
): Promise<ServerProcess> {
  const { PORT, GRPC_PORT, OPERATIONS_PORT } = environment;
  const ports = {
    http: Number(PORT ?? (await freePort())),
    grpc: Number(GRPC_PORT ?? (await freePort())),
  };
  const probed = `http://127.0.0.1:${OPERATIONS_PORT ?? ports.http}/readyz`;
  const listening = { HOST: "127.0.0.1", PORT: `${ports.http}`, GRPC_PORT: `${ports.grpc}` };
  const child = spawn(process.execPath, [cliOf(repository), "serve"], {
    env: { ...ENVIRONMENT, ...listening, ...environment },
    stdio: ["ignore", "ignore", "inherit"],
  });
  owned.defer(() => end(child, () => child.kill("SIGTERM")));
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline) {
    interrupted.throwIfAborted();
    if (child.exitCode !== null) throw new Error("the product exited before it was ready");
    const answer = await fetch(probed).catch(() => undefined);
    if (answer?.status === 200) return { pid: child.pid!, ports };
    await sleep(POLL_MS);
  }
  throw new Error(`the product was not ready after ${READY_MS} ms`);
}

/** Starts a program that prints its HTTP port and exits when its standard input closes. */
export async function startProgram(
  owned: AsyncDisposableStack,
  file: string,
  environment: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const child = spawn(file, {
    env: { ...ENVIRONMENT, ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  owned.defer(() => end(child, () => child.stdin.end()));
  const lines = createInterface({ input: child.stdout, signal: interrupted });
  for await (const line of lines) return { pid: child.pid!, ports: { http: Number(line), grpc: 0 } };
  throw new Error(`${file} exited before it was ready`);
}

/** Runs a command of the product and returns its output. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  repository = "",
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [cliOf(repository), ...args], {
    env: { ...ENVIRONMENT, ...environment },
    signal: interrupted,
  });
  return stdout;
}

/** A bench script in a separate process that answers messages one at a time. */
export interface Worker<Question, Answer> {
  readonly pid: number;
  /** First message, which the script sends when it is ready. */
  readonly hello: unknown;
  ask(question: Question): Promise<Answer>;
}

/** Starts a bench script, which exits when it is disconnected. */
export async function startWorker<Question extends object, Answer>(
  owned: AsyncDisposableStack,
  script: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Worker<Question, Answer>> {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), {
    env: { ...ENVIRONMENT, ...environment },
    serialization: "advanced",
  });
  owned.defer(() => end(child, () => child.disconnect()));
  const hello = await nextMessage(child, script);
  return {
    pid: child.pid!,
    hello,
    async ask(question) {
      child.send(question);
      return (await nextMessage(child, script)) as Answer;
    },
  };
}

async function nextMessage(child: ChildProcess, script: string): Promise<unknown> {
  const settled = new AbortController();
  const signal = AbortSignal.any([interrupted, settled.signal]);
  const exited = once(child, "exit", { signal }).then(() => {
    throw new Error(`${script} ended unexpectedly`);
  });
  try {
    const [message] = await Promise.race([once(child, "message", { signal }), exited]);
    return message;
  } finally {
    settled.abort();
  }
}

async function end(child: ChildProcess, ask: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  ask();
  await exited;
}
