/**
 * `npm run bench`: complete quotes a second — key checked, validated, covered by 60 zones, priced —
 * of this service, of a Fastify peer that does the same work, and of bare node:http that does
 * none of it. Rounds are interleaved; the figures are medians.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { createApp } from "../../src/app.ts";
import { holdEmbeddedPostgres } from "../../src/db/embedded-postgres.ts";
import { migrate } from "../../src/db/migrate.ts";
import { setLimit } from "../../src/limits/set-limit.ts";
import { publishTariff } from "../../src/platform/publish-tariff.ts";
import { createWorkspace } from "../../src/workspaces/create-workspace.ts";
import { countyTariff } from "./county-tariff.ts";
import { measure, spread, startServer, type Contestant, type Round } from "./measure.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const CONNECTIONS = 64;
const ROUTE = {
  pickup_lat: 40.758,
  pickup_lng: -73.9855,
  dropoff_lat: 40.6782,
  dropoff_lng: -73.9442,
  weight_kg: 2.5,
};

const folder = await mkdtemp(join(tmpdir(), "shipments-bench-"));
const database = await holdEmbeddedPostgres(join(folder, "data"));
const contestants: Contestant[] = [];
try {
  const tariff = countyTariff("36", 60);
  const tariffFile = join(folder, "tariff.json");
  await writeFile(tariffFile, JSON.stringify(tariff));
  const apiKey = await prepareDatabase(tariff);
  contestants.push(
    await startServer("bare node:http", "bare-http.ts"),
    await startServer("Fastify", "fastify-quote.ts", { TARIFF_FILE: tariffFile, API_KEY: apiKey }),
    await startServer("shipments", "shipments.ts", { DATABASE_URL: database.url }),
  );
  print(await runRounds(apiKey));
} finally {
  await Promise.all(contestants.map((contestant) => contestant.stop()));
  await database.release();
  await rm(folder, { recursive: true, force: true });
}

async function prepareDatabase(tariff: object): Promise<string> {
  await migrate(database.url);
  const config = { host: "127.0.0.1", port: 0, grpcPort: 0, databaseUrl: database.url };
  const app = createApp(config, pino({ level: "silent" }));
  await publishTariff(app.em, tariff, undefined);
  const { workspace, apiKey } = await createWorkspace(app.em, { name: "Bench" });
  // The limit is not what is measured.
  await setLimit(app.em, workspace.id, "quote", { rate: 1_000_000, burst: 1_000_000 });
  await app.close();
  return apiKey;
}

async function runRounds(apiKey: string): Promise<Map<string, Round[]>> {
  const body = JSON.stringify(ROUTE);
  const load = { path: "/v1/shipments/quote", body, apiKey, connections: CONNECTIONS };
  const rounds = new Map<string, Round[]>(contestants.map(({ name }) => [name, []]));
  for (const { url } of contestants) await measure(url, { ...load, seconds: 2 });
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, url } of contestants) {
      rounds.get(name)!.push(await measure(url, { ...load, seconds: SECONDS }));
    }
  }
  return rounds;
}

function print(rounds: Map<string, Round[]>): void {
  const rows = [...rounds].map(([name, figures]) => ({
    name,
    rate: spread(figures.map((it) => it.requestsPerSecond)),
    p99: spread(figures.map((it) => it.p99Ms)),
  }));
  const limit = rows[0]!.rate.median;
  const lines = rows.map(({ name, rate, p99 }) => {
    const range = `${Math.round(rate.min)} to ${Math.round(rate.max)}`;
    const ratio = (rate.median / limit).toFixed(2);
    return `| ${name} | ${ratio} | ${Math.round(rate.median)} | ${range} | ${p99.median} |`;
  });
  process.stdout.write(
    [
      "| quote, JSON | of bare | requests/s | min to max | p99 ms |",
      "|---|---|---|---|---|",
      ...lines,
      "",
    ].join("\n"),
  );
}
