import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { acquireEmbeddedPostgres } from "../../../src/embedded-postgres/embedded-postgres.ts";
import { startOurs, startPeer, type Contestant } from "../contestant.ts";
import { countyTariff } from "../county-tariff.ts";
import { prepare, type Server } from "../database.ts";
import { figureOf } from "../figure.ts";
import { interrupted } from "../interruption.ts";
import { prepareQuotes, type PreparedQuotes } from "../prepare-quotes.ts";
import { residentMiB } from "../process-cost.ts";
import { interleave } from "../round.ts";
import { SETTINGS } from "../settings.ts";
import { soak, type Soak } from "../soak.ts";
import { number, spread, table } from "../table.ts";

/** How long a server that has just started is left alone, in milliseconds. */
const SETTLE_MS = 2_000;

type Start = (owned: AsyncDisposableStack) => Promise<Contestant>;

/** Time to ready, memory at rest, and memory and times under a steady load of quotes. */
export async function startAndMemory(server: Server): Promise<string> {
  const prepared = await prepareQuotes(server, "soak");
  const dataDir = await prepareDataDir(server);
  const onDatabase: Start = (owned) => startOurs(owned, { DATABASE_URL: prepared.url });
  const peer: Start = (owned) =>
    startPeer(owned, "Fastify, quotes alone", "fastify-quote.ts", prepared.environment);
  const starts = await measureStarts([
    ["ours, which starts its PostgreSQL", (owned) => startOurs(owned, { DATA_DIR: dataDir })],
    ["ours, on a PostgreSQL that runs", onDatabase],
    ["Fastify, quotes alone, without a database", peer],
  ]);
  return `${starts}\n\n${await measureSoaks(server, prepared, [onDatabase, peer])}`;
}

/** A data folder of ours as an earlier run leaves it, with the counties published. */
async function prepareDataDir(server: Server): Promise<string> {
  const dataDir = join(server.folder, "warm");
  const lease = await acquireEmbeddedPostgres(dataDir);
  try {
    await prepare(lease.url, countyTariff());
  } finally {
    await lease.release();
  }
  return dataDir;
}

async function measureStarts(ways: readonly (readonly [string, Start])[]): Promise<string> {
  for (const [, start] of ways) await measureStart(start);
  const rounds = await interleave(ways, ([, start]) => measureStart(start));
  return table(
    ["", "ready after, ms", "memory at rest, MiB"],
    ways.map(([name], i) => [
      name,
      spread(figureOf(rounds[i]!.map((it) => it.readyMs)), 0),
      spread(figureOf(rounds[i]!.map((it) => it.restMiB)), 0),
    ]),
  );
}

async function measureStart(start: Start): Promise<{ readyMs: number; restMiB?: number }> {
  interrupted.throwIfAborted();
  await using owned = new AsyncDisposableStack();
  const begunMs = performance.now();
  const { pid } = await start(owned);
  const readyMs = performance.now() - begunMs;
  await sleep(SETTLE_MS);
  const restMiB = residentMiB(pid);
  return restMiB === undefined ? { readyMs } : { readyMs, restMiB };
}

/** One after the other, since two at once would disturb each other. */
async function measureSoaks(
  server: Server,
  { apiKey }: PreparedQuotes,
  starts: readonly Start[],
): Promise<string> {
  const rows: string[][] = [];
  let way: Soak["way"] | undefined;
  for (const start of starts) {
    await using owned = new AsyncDisposableStack();
    const contestant = await start(owned);
    const soaked = await soak(contestant, apiKey, server.folder);
    way = soaked.way;
    rows.push([contestant.name, ...cells(soaked)]);
  }
  const columns = [
    "",
    "p99 ÷ median",
    "memory at the end ÷ after a fifth",
    "requests/s",
    "median, ms",
    "p99, ms",
    "CPU, µs",
    "MiB after a fifth",
    "MiB at the end",
  ];
  return `Quotes for ${SETTINGS.soakSeconds} seconds at half the highest rate, ${way}:\n\n${table(columns, rows)}`;
}

function cells({ round, earlyMiB, lateMiB }: Soak): string[] {
  const growth = earlyMiB === undefined ? undefined : lateMiB! / earlyMiB;
  // autocannon knows whole milliseconds only.
  const tail = round.medianMs === 0 ? undefined : round.p99Ms / round.medianMs;
  return [
    number(tail, 2),
    number(growth, 3),
    number(round.requestsPerSecond, 0),
    number(round.medianMs, 2),
    number(round.p99Ms, 2),
    number(round.cpuMicros, 0),
    number(earlyMiB, 0),
    number(lateMiB, 0),
  ];
}
