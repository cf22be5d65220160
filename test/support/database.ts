import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { createOrm } from "../../src/db/orm.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { dropDatabase, runSql } from "../citus/cluster.ts";
import { TEST_MS } from "./limits.ts";
import { whenOver } from "./when-over.ts";

/** A database of a test's own, which goes when the test or its file is over. */
export interface TestDatabase {
  url: string;
  /** Drops it before that, whoever is connected. */
  drop(): Promise<void>;
}

/**
 * Makes a migrated, empty database, in some tens of milliseconds, by cloning the run's template.
 * Any number may be made at once.
 */
export function createDatabase(): Promise<TestDatabase> {
  return create(inject("templateDatabase"));
}

/** Makes such a database in which the sample tariff is in force. */
export function createDatabaseWithTariff(): Promise<TestDatabase> {
  return create(inject("tariffTemplateDatabase"));
}

/** Makes one with the sample tariff that stays until the run ends, and gives its URL. */
export async function createSharedDatabase(): Promise<string> {
  return (await createNamed(inject("tariffTemplateDatabase"))).url;
}

/** Makes a database in which there is no table yet. */
export function createUnmigratedDatabase(): Promise<TestDatabase> {
  return create("template1");
}

async function create(template: string): Promise<TestDatabase> {
  const { name, url } = await createNamed(template);
  return { url, drop: whenOver(() => dropDatabase(inject("adminDatabaseUrls"), name)) };
}

async function createNamed(template: string): Promise<{ name: string; url: string }> {
  const name = `${inject("templateDatabase")}_${randomBytes(6).toString("hex")}`;
  // Nothing waits for the disk here, so that the checkpoints of copying files cost less than the log.
  await administer(`create database ${name} template ${template} strategy file_copy`);
  const url = new URL(inject("adminDatabaseUrls")[0]!);
  url.pathname = name;
  return { name, url: url.href };
}

/** Connects to a database until the test or its file is over, and ignores that it is dropped meanwhile. */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  whenOver(() => client.end());
  return client;
}

/** The ORM with every entity on a database, until the test or its file is over. */
export function openOrm(url: string): ReturnType<typeof createOrm> {
  const orm = createOrm(url, { entities: ENTITIES, maxWaitMs: TEST_MS });
  whenOver(() => orm.close());
  return orm;
}

/** On every node that there is: a distributed database has a part on each. */
async function administer(sql: string): Promise<void> {
  await Promise.all(inject("adminDatabaseUrls").map((url) => runSql(url, sql)));
}
