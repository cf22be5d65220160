import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "./free-port.ts";
import { interrupted } from "./interruption.ts";

/** A server under load, in a process of its own. */
export interface Contestant {
  readonly name: string;
  readonly pid: number;
  /** Where it is called: with JSON, except for the peers that speak gRPC alone. */
  readonly url: string;
}

/** Ours has both doors. */
export interface Ours extends Contestant {
  readonly grpcUrl: string;
}

/** The product and its servers are run by the Node that runs the bench. */
const NODE = process.execPath;
const CLI = fileURLToPath(new URL("../../src/cli.ts", import.meta.url));
/** What servers see of the environment: nothing that sets them up otherwise. */
const { PATH, HOME, TMPDIR } = process.env;
const SURROUNDINGS = { PATH, HOME, TMPDIR };
/** How long a server may take until it serves, in milliseconds. */
const READY_MS = 60_000;
/** How often it is asked whether it does, in milliseconds. */
const ASK_MS = 5;

/**
 * Starts the product as it is run: `serve`, with its log going nowhere; waits until it is ready.
 *
 * @param environment DATABASE_URL, or DATA_DIR for the embedded database
 */
export async function startOurs(
  owned: AsyncDisposableStack,
  environment: Readonly<Record<string, string>>,
  name = "ours",
): Promise<Ours> {
  const [port, grpcPort] = [await freePort(), await freePort()];
  const child = spawn(NODE, [CLI, "serve"], {
    env: {
      ...SURROUNDINGS,
      HOST: "127.0.0.1",
      PORT: String(port),
      GRPC_PORT: String(grpcPort),
      ...environment,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  owned.defer(() => end(child, () => child.kill("SIGTERM")));
  const url = `http://127.0.0.1:${port}`;
  await untilReady(`${url}/readyz`, child);
  return { name, pid: child.pid!, url, grpcUrl: `http://127.0.0.1:${grpcPort}` };
}

/** Starts one of `servers/`; its first line of output is its address. */
export async function startPeer(
  owned: AsyncDisposableStack,
  name: string,
  script: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Contestant> {
  const child = spawn(NODE, [fileURLToPath(new URL(`servers/${script}`, import.meta.url))], {
    env: { ...SURROUNDINGS, NODE_ENV: "production", ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  owned.defer(() => end(child, () => child.stdin.end()));
  const ended = once(child, "exit").then(() => {
    throw new Error(`${name} ended before it served`);
  });
  const [url] = (await Promise.race([once(createInterface(child.stdout), "line"), ended])) as [
    string,
  ];
  ended.catch(() => undefined);
  return { name, pid: child.pid!, url };
}

async function end(child: ChildProcess, ask: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  ask();
  await ended;
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline) {
    interrupted.throwIfAborted();
    if (child.exitCode !== null) throw new Error("the service ended before it was ready");
    const status = await fetch(url).then(
      (response) => response.status,
      () => undefined,
    );
    if (status === 200) return;
    await sleep(ASK_MS);
  }
  throw new Error(`the service was not ready after ${READY_MS} ms`);
}
