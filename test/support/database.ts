import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { createOrm } from "../../src/db/orm.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { dropDatabase, runSql } from "../citus/cluster.ts";
import { TEST_MS } from "./limits.ts";
import { recordStatements } from "./sent-statements.ts";
import { whenOver } from "./when-over.ts";

recordStatements();

/** A separate database, which is dropped with the test or its file. */
export interface TestDatabase {
  url: string;
  /** Drops the database early, even if there are open connections. */
  drop(): Promise<void>;
}

/** Creates a migrated, empty database within tens of milliseconds by cloning the run's template. */
export function createDatabase(): Promise<TestDatabase> {
  return create(inject("templateDatabase"));
}

/** Creates a database in which the sample tariff is in force. */
export function createDatabaseWithTariff(): Promise<TestDatabase> {
  return create(inject("tariffTemplateDatabase"));
}

/** Creates a database with the sample tariff that exists until the end of the run. Returns its URL. */
export async function createSharedDatabase(): Promise<string> {
  return (await createNamed(inject("tariffTemplateDatabase"))).url;
}

/** Creates a database without tables. */
export function createUnmigratedDatabase(): Promise<TestDatabase> {
  return create("template1");
}

async function create(template: string): Promise<TestDatabase> {
  const { name, url } = await createNamed(template);
  return { url, drop: whenOver(() => dropDatabase(inject("adminDatabaseUrls"), name)) };
}

async function createNamed(template: string): Promise<{ name: string; url: string }> {
  const name = `${inject("templateDatabase")}_${randomBytes(6).toString("hex")}`;
  // Copying files is cheaper than writing WAL, because fsync is off.
  await administer(`create database ${name} template ${template} strategy file_copy`);
  const url = new URL(inject("adminDatabaseUrls")[0]!);
  url.pathname = name;
  return { name, url: url.href };
}

/** Connects to a database until the end of the test or its file. Ignores the error when the database is dropped. */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  whenOver(() => client.end());
  return client;
}

/** Opens the ORM with all entities on a database until the end of the test or its file. */
export function openOrm(url: string): ReturnType<typeof createOrm> {
  const orm = createOrm(url, { entities: ENTITIES, maxWaitMs: TEST_MS });
  whenOver(() => orm.close());
  return orm;
}

/** Runs a statement on every node, because each node of a cluster has its own copy of the database. */
async function administer(sql: string): Promise<void> {
  await Promise.all(inject("adminDatabaseUrls").map((url) => runSql(url, sql)));
}
