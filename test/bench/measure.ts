import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A server under load, in a process of its own. */
export interface Contestant {
  readonly name: string;
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts one of `servers/`; its first line of output is its address. */
export async function startServer(
  name: string,
  script: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Contestant> {
  const path = fileURLToPath(new URL(`servers/${script}`, import.meta.url));
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return { name, url, stop: () => stop(child) };
}

/** Ends a child by closing its input, and waits for it. */
async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.stdin?.end();
  await ended;
}

/** What one round of load saw. */
export interface Round {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

/** What every request of a load is. */
export interface Load {
  readonly path: string;
  readonly body: string;
  readonly apiKey: string;
  readonly connections: number;
  readonly seconds: number;
}

/**
 * Puts load on a server from another process: wrk where it is installed, since it takes the least
 * of the machine for itself, else autocannon.
 *
 * @throws Error when any request failed
 */
export async function measure(url: string, load: Load): Promise<Round> {
  const { failed, ...round } = await (wrkIsInstalled()
    ? runWrk(url, load)
    : runAutocannon(url, load));
  if (failed > 0) throw new Error(`${url} failed ${failed} requests`);
  return round;
}

type Outcome = Round & { readonly failed: number };

function wrkIsInstalled(): boolean {
  return spawnSync("wrk", ["--version"]).error === undefined;
}

async function runWrk(url: string, load: Load): Promise<Outcome> {
  const script = fileURLToPath(new URL("post.lua", import.meta.url));
  const rate = [`-c${load.connections}`, "-t1", `-d${load.seconds}`];
  const output = await outputOf("wrk", [...rate, "-s", script, url + load.path], {
    LOAD_BODY: load.body,
    LOAD_API_KEY: load.apiKey,
  });
  return JSON.parse(/^RESULT (.*)$/m.exec(output)![1]!) as Outcome;
}

async function runAutocannon(url: string, load: Load): Promise<Outcome> {
  const options = {
    connections: load.connections,
    duration: load.seconds,
    method: "POST",
    body: load.body,
  };
  const headers = ["content-type=application/json", `authorization=Bearer ${load.apiKey}`];
  const output = await outputOf(process.execPath, [
    fileURLToPath(import.meta.resolve("autocannon")),
    "--json",
    "--no-progress",
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ...headers.flatMap((header) => ["--headers", header]),
    url + load.path,
  ]);
  const result = JSON.parse(output) as {
    requests: { average: number };
    latency: { p99: number };
    non2xx: number;
    errors: number;
  };
  return {
    requestsPerSecond: result.requests.average,
    p99Ms: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

async function outputOf(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(child, "close");
  return Buffer.concat(chunks).toString();
}

/** The middle of some figures, and the least and the most. */
export function spread(figures: readonly number[]): { median: number; min: number; max: number } {
  const sorted = figures.toSorted((a, b) => a - b);
  return {
    median: sorted[Math.floor(sorted.length / 2)]!,
    min: sorted[0]!,
    max: sorted.at(-1)!,
  };
}
