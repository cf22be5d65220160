import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import pg from "pg";
import { createApp, type App } from "../../src/server/app.ts";
import { acquireEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { migrate } from "../../src/db/migrate.ts";
import { LIMIT_CLASSES } from "../../src/domain/rate-limit.ts";
import { setLimit } from "../../src/features/workspaces/set-limit.ts";
import { publishTariff } from "../../src/features/tariffs/publish-tariff.ts";
import { createWorkspace } from "../../src/features/workspaces/create-workspace.ts";

/** A folder of the bench's own, and the embedded PostgreSQL in it with the product's settings. */
export interface Server extends AsyncDisposable {
  readonly folder: string;
  /** A database in which nothing is. */
  readonly url: string;
}

/** Starts PostgreSQL on an empty folder; disposing of it stops it and removes the folder. */
export async function startDatabaseServer(): Promise<Server> {
  await using owned = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "shipments-bench-"));
  owned.defer(() => rm(folder, { recursive: true, force: true }));
  const lease = await acquireEmbeddedPostgres(join(folder, "data"));
  owned.defer(() => lease.release());
  const kept = owned.move();
  return { folder, url: lease.url, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** A database with a tariff and one workspace, which may call as often as it likes. */
export interface Prepared {
  readonly url: string;
  readonly workspace: number;
  readonly apiKey: string;
}

/** Makes a database, or if another is given, a copy of it, which nobody may be connected to. */
export async function createDatabase(
  server: Server,
  name: string,
  original?: string,
): Promise<string> {
  const copied = original === undefined ? "" : ` template ${original} strategy file_copy`;
  await withClient(server.url, (client) => client.query(`create database ${name}${copied}`));
  const url = new URL(server.url);
  url.pathname = name;
  return url.href;
}

/** Makes a database that is ready to quote and book in. */
export async function prepareDatabase(
  server: Server,
  name: string,
  tariff: object,
): Promise<Prepared> {
  const url = await createDatabase(server, name);
  return { url, ...(await prepare(url, tariff)) };
}

/** Migrates a database, publishes a tariff and makes a workspace with a key. */
export async function prepare(url: string, tariff: object): Promise<Omit<Prepared, "url">> {
  await migrate(url);
  const config = { host: "127.0.0.1", port: 0, grpcPort: 0, databaseUrl: url };
  const app = createApp(config, pino({ level: "silent" }));
  try {
    return await fill(app, tariff);
  } finally {
    await app.close();
  }
}

async function fill({ em }: App, tariff: object): Promise<Omit<Prepared, "url">> {
  const { faults } = await publishTariff(em, tariff, undefined);
  if (faults !== undefined) throw new Error(`the bench's tariff: ${JSON.stringify(faults)}`);
  const { workspace, apiKey } = await createWorkspace(em, {
    name: "Bench",
    paymentProvider: "manual",
  });
  // Limits are not what is measured.
  for (const limitClass of LIMIT_CLASSES) {
    await setLimit(em, workspace.id, limitClass, { rate: 1_000_000, burst: 1_000_000 });
  }
  return { workspace: workspace.id, apiKey };
}

/** Does something with a connection of its own to a database. */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
