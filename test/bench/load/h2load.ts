import { open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Contestant } from "../contestant.ts";
import { quantile } from "../figure.ts";
import { cpuMicros } from "../process-cost.ts";
import type { Round } from "../round.ts";
import { runCommand } from "../run-command.ts";

/** What h2load is to do. */
export interface H2Load {
  /** The whole address. */
  readonly url: string;
  readonly protocol: "HTTP/1.1" | "HTTP/2";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The size of the body of every right answer, in bytes: h2load knows only the status. */
  readonly answerBytes: number;
  readonly connections: number;
  /** How many requests are under way on each connection, at most. */
  readonly streams: number;
  readonly seconds: number;
  /** On all connections together; as many as can be, if not given. */
  readonly requestsPerSecond?: number;
  /** Where to keep files meanwhile. */
  readonly folder: string;
}

/**
 * Puts load on a contestant with h2load, which must be installed.
 *
 * @throws Error when any request failed, or answers were not of the size they should have
 */
export async function runH2load(contestant: Contestant, load: H2Load): Promise<Round> {
  const body = join(load.folder, "body");
  const log = join(load.folder, "requests.tsv");
  await writeFile(body, load.body);
  const before = cpuMicros(contestant.pid);
  const output = await runCommand("h2load", [
    ...argumentsOf(load),
    "-d",
    body,
    `--log-file=${log}`,
    load.url,
  ]);
  const after = cpuMicros(contestant.pid);
  const latencies = await readLatencies(log);
  await rm(log);
  const requests = checkedRequests(output, contestant.name, load.answerBytes);
  return {
    requests,
    requestsPerSecond: requests / load.seconds,
    medianMs: quantile(latencies, 0.5) / 1_000,
    p99Ms: quantile(latencies, 0.99) / 1_000,
    cpuMicros: before === undefined ? undefined : (after! - before) / requests,
  };
}

function argumentsOf(load: H2Load): string[] {
  const { protocol, headers, connections, streams, seconds, requestsPerSecond } = load;
  const perConnection = requestsPerSecond === undefined ? [] : [requestsPerSecond / connections];
  return [
    ...(protocol === "HTTP/1.1" ? ["--h1"] : []),
    "-t1",
    `-c${connections}`,
    `-m${streams}`,
    `-D${seconds}`,
    ...perConnection.map((rate) => `--rps=${Math.max(1, Math.round(rate))}`),
    ...Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
  ];
}

/** How many requests were answered as they should. */
function checkedRequests(output: string, name: string, answerBytes: number): number {
  const count = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? Number.NaN);
  const succeeded = count(/ (\d+) succeeded/);
  const wrong = count(/ (\d+) failed/) + count(/ (\d+) errored/) + count(/ (\d+) timeout/);
  // Answers that were under way at the end have a status, and perhaps no body any more.
  const missing = 1 - count(/\((\d+)\) data/) / (count(/(\d+) 2xx/) * answerBytes);
  if (succeeded > 0 && wrong === 0 && Math.abs(missing) < 0.01) return succeeded;
  throw new Error(`${name} did not answer every request as it should: ${output}`);
}

/** The times until the end of each answer, in microseconds and in ascending order. */
async function readLatencies(log: string): Promise<Float64Array> {
  const latencies: number[] = [];
  const file = await open(log);
  // When it began, its status, and the time it took.
  for await (const line of file.readLines()) latencies.push(Number(line.split("\t")[2]));
  return Float64Array.from(latencies).sort();
}
