import { spawn, type ChildProcess } from "node:child_process";
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

/** Puts load on a server from another process (autocannon), and refuses to count failures. */
export async function measure(url: string, load: Load): Promise<Round> {
  const autocannon = fileURLToPath(import.meta.resolve("autocannon"));
  const child = spawn(
    process.execPath,
    [
      autocannon,
      "--json",
      "--no-progress",
      ...["--connections", String(load.connections)],
      ...["--duration", String(load.seconds)],
      ...["--method", "POST"],
      ...["--headers", "content-type=application/json"],
      ...["--headers", `authorization=Bearer ${load.apiKey}`],
      ...["--body", load.body],
      url + load.path,
    ],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(child, "close");
  const result = JSON.parse(Buffer.concat(chunks).toString()) as {
    requests: { average: number };
    latency: { p99: number };
    non2xx: number;
    errors: number;
  };
  if (result.non2xx + result.errors > 0) {
    throw new Error(`${url} failed ${result.non2xx + result.errors} requests`);
  }
  return { requestsPerSecond: result.requests.average, p99Ms: result.latency.p99 };
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
