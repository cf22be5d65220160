import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { quantile } from "../figure.ts";
import type { Round } from "../round.ts";
import { runCommand } from "../run-command.ts";

/** What pgbench is to do. */
export interface PgbenchLoad {
  /** Where the command is. */
  readonly command: string;
  readonly databaseUrl: string;
  /** The text of its script, one transaction of which is one request. */
  readonly script: string;
  /** What `:name` in the script stands for, besides what it sets itself. */
  readonly variables: Readonly<Record<string, string>>;
  readonly clients: number;
  readonly seconds: number;
  /** Where to keep files meanwhile. */
  readonly folder: string;
}

/**
 * Runs a script with pgbench, its statements prepared.
 *
 * @throws Error when any transaction failed
 */
export async function runPgbench(load: PgbenchLoad): Promise<Round> {
  const { command, databaseUrl, variables, clients, seconds, folder } = load;
  const script = join(folder, "pgbench.sql");
  const log = join(folder, "pgbench-log");
  await writeFile(script, load.script);
  const output = await runCommand(command, [
    "--no-vacuum",
    "--protocol=prepared",
    `--file=${script}`,
    `--client=${clients}`,
    `--time=${seconds}`,
    "--log",
    `--log-prefix=${log}`,
    ...Object.entries(variables).flatMap(([name, value]) => ["-D", `${name}=${value}`]),
    databaseUrl,
  ]);
  const latencies = await takeLatencies(folder, "pgbench-log");
  const failed = Number(/^number of failed transactions: (\d+)/m.exec(output)?.[1] ?? 0);
  if (failed > 0 || latencies.length === 0) throw new Error(`pgbench failed: ${output}`);
  return {
    requests: latencies.length,
    requestsPerSecond: Number(/^tps = ([\d.]+)/m.exec(output)![1]),
    medianMs: quantile(latencies, 0.5) / 1_000,
    p99Ms: quantile(latencies, 0.99) / 1_000,
  };
}

/** The times of transactions in microseconds and in ascending order, out of logs that then go. */
async function takeLatencies(folder: string, prefix: string): Promise<Float64Array> {
  const latencies: number[] = [];
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const lines = (await readFile(join(folder, name), "utf8")).trim().split("\n");
    // Client, transaction, and the time it took.
    for (const line of lines) latencies.push(Number(line.split(" ")[2]));
    await rm(join(folder, name));
  }
  return Float64Array.from(latencies).sort();
}
