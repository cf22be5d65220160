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
  /** How long its new connections are given before, to prepare and plan. */
  readonly warmUpSeconds: number;
  /** Where to keep files meanwhile. */
  readonly folder: string;
}

/**
 * Runs a script with pgbench, its statements prepared.
 *
 * @throws Error when any transaction failed
 */
export async function runPgbench(load: PgbenchLoad): Promise<Round> {
  const { command, databaseUrl, variables, clients, seconds, warmUpSeconds, folder } = load;
  const script = join(folder, "pgbench.sql");
  await writeFile(script, load.script);
  const output = await runCommand(command, [
    "--no-vacuum",
    "--protocol=prepared",
    `--file=${script}`,
    `--client=${clients}`,
    `--time=${warmUpSeconds + seconds}`,
    "--log",
    `--log-prefix=${join(folder, LOG)}`,
    ...Object.entries(variables).flatMap(([name, value]) => ["-D", `${name}=${value}`]),
    databaseUrl,
  ]);
  const failed = Number(/^number of failed transactions: (\d+)/m.exec(output)?.[1] ?? 0);
  const transactions = await takeLog(folder);
  if (failed > 0 || transactions.length === 0) throw new Error(`pgbench failed: ${output}`);
  return roundOf(transactions, seconds);
}

const LOG = "pgbench-log";

interface Transaction {
  readonly tookMicros: number;
  readonly endedMicros: number;
}

/** What the last seconds of a run saw. */
function roundOf(transactions: readonly Transaction[], seconds: number): Round {
  const ended = transactions.reduce((last, it) => Math.max(last, it.endedMicros), 0);
  const measured = transactions.filter((it) => it.endedMicros > ended - seconds * 1e6);
  const latencies = Float64Array.from(measured, (it) => it.tookMicros).sort();
  return {
    requests: measured.length,
    requestsPerSecond: measured.length / seconds,
    medianMs: quantile(latencies, 0.5) / 1_000,
    p99Ms: quantile(latencies, 0.99) / 1_000,
  };
}

/** The transactions of a run, out of its logs, which then go. */
async function takeLog(folder: string): Promise<Transaction[]> {
  const transactions: Transaction[] = [];
  for (const name of await readdir(folder)) {
    if (!name.startsWith(LOG)) continue;
    const lines = (await readFile(join(folder, name), "utf8")).trim().split("\n");
    for (const line of lines) {
      // Client, number, the time it took, script, and when it ended: seconds, microseconds.
      const [, , took, , seconds, micros] = line.split(" ").map(Number);
      transactions.push({ tookMicros: took!, endedMicros: seconds! * 1e6 + micros! });
    }
    await rm(join(folder, name));
  }
  return transactions;
}
