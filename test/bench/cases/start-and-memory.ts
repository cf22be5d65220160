import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { measureAll, measureRound, startSide, type Bench } from "../contest.ts";
import { createDatabase } from "../database.ts";
import { number, spreads, table } from "../figures.ts";
import { quoteJson } from "../operations.ts";
import { residentMiB } from "../process-cost.ts";
import { interrupted, runCommand, startProduct, type ServerProcess } from "../processes.ts";
import { SETTINGS } from "../settings.ts";
import { FASTIFY, OURS, type Side } from "../sides.ts";

/** Pause between a server's start and the memory measurement, in milliseconds. */
const SETTLE_MS = 2_000;
const SOAK_CLIENTS = 8;

/** Measures startup time and idle memory, and memory and latency under a steady load of quotes. */
export async function startAndMemory(bench: Bench): Promise<string> {
  return `${await measureStarts(bench)}

Quotes for ${SETTINGS.soakSeconds} seconds at half the highest rate, ${SOAK_CLIENTS} at once:

${await measureSoaks(bench)}`;
}

type Start = (owned: AsyncDisposableStack) => Promise<readonly ServerProcess[]>;

async function measureStarts({ databases }: Bench): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const database = await createDatabase(owned, databases, { shipments: 1 });
  // Simulates a data folder from an earlier run.
  const embedded = { DATA_DIR: join(databases.folder, "embedded") };
  await runCommand(["tariff", "publish", databases.tariffFile], embedded);
  const starts: Readonly<Record<string, Start>> = {
    "ours, which starts its PostgreSQL": async (it) => [await startProduct(it, embedded)],
    "ours, on a PostgreSQL that runs": (it) => OURS.start(it, database),
    [FASTIFY.name]: (it) => FASTIFY.start(it, database),
  };
  const rounds = await measureAll(Object.values(starts), measureStart);
  const rows = Object.keys(starts).map((name, i) => [name, ...spreads(rounds[i]!, { readyMs: 0, restMiB: 0 })]);
  return table(["", "ready after, ms", "memory at rest, MiB"], rows);
}

async function measureStart(start: Start) {
  await using owned = new AsyncDisposableStack();
  const begunMs = performance.now();
  const [server] = await start(owned);
  const readyMs = performance.now() - begunMs;
  return { readyMs, restMiB: await memoryAfter(server!, SETTLE_MS / 1_000) };
}

async function memoryAfter({ pid }: ServerProcess, seconds: number): Promise<number | undefined> {
  await sleep(seconds * 1_000, undefined, { signal: interrupted });
  return residentMiB(pid);
}

/** Runs the loads one after the other, because concurrent loads would disturb each other. */
async function measureSoaks(bench: Bench): Promise<string> {
  const rows = [await soak(bench, OURS), await soak(bench, FASTIFY)];
  const ratios = ["p99 ÷ median", "memory at the end ÷ after a fifth"];
  const figures = ["requests/s", "median, ms", "p99, ms", "CPU, µs"];
  return table(["", ...ratios, ...figures, "MiB after a fifth", "MiB at the end"], rows);
}

/** Measures the maximum rate of quotes, then applies half of it for a long time. */
async function soak(bench: Bench, side: Side): Promise<string[]> {
  await using owned = new AsyncDisposableStack();
  const contestant = await startSide(owned, bench, side);
  const load = { clients: SOAK_CLIENTS };
  await measureRound(bench, contestant, quoteJson, load);
  const highest = await measureRound(bench, contestant, quoteJson, load);
  const seconds = SETTINGS.soakSeconds;
  const steady = { ...load, seconds, requestsPerSecond: highest.requestsPerSecond / 2 };
  const [round, early, late] = await Promise.all([
    measureRound(bench, contestant, quoteJson, steady),
    memoryAfter(contestant.processes[0]!, seconds / 5),
    memoryAfter(contestant.processes[0]!, seconds - 0.5),
  ]);
  return [
    side.name,
    number(round.p99Ms / round.medianMs, 2),
    number(early === undefined ? undefined : late! / early, 3),
    number(round.requestsPerSecond, 0),
    number(round.medianMs, 2),
    number(round.p99Ms, 2),
    number(round.cpuMicros, 0),
    number(early, 0),
    number(late, 0),
  ];
}
