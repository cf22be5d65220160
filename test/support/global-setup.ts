import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { acquireEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { migrate } from "../../src/db/migrate.ts";
import { buildOutdated } from "./build-outdated.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where databases are made and dropped, with the right to do so. */
    adminDatabaseUrl: string;
    /** The migrated, empty database to clone; databases of this run begin with its name. */
    templateDatabase: string;
  }
}

/** Undoes a step; every step of this file returns its own. */
type Undo = () => Promise<void>;

/**
 * Once for the whole run: program and pages as their sources are now, and a PostgreSQL, and in it a
 * migrated database that tests clone. The server is one of the run's own, in a temporary folder, or
 * that of TEST_DATABASE_URL, where only databases that begin with this run's own name are made and
 * dropped.
 */
export default async function setUp(project: TestProject): Promise<Undo> {
  await buildOutdated();
  const [adminUrl, leaveServer] = await enterServer();
  const template = `shipments_test_${randomBytes(6).toString("hex")}`;
  const tearDown = async () => {
    try {
      await dropDatabases(adminUrl, template);
    } finally {
      await leaveServer();
    }
  };
  try {
    await makeTemplate(adminUrl, template);
  } catch (error) {
    await tearDown();
    throw error;
  }
  project.provide("adminDatabaseUrl", adminUrl);
  project.provide("templateDatabase", template);
  return tearDown;
}

async function enterServer(): Promise<[url: string, leave: Undo]> {
  const theirs = process.env.TEST_DATABASE_URL;
  if (theirs) return [theirs, async () => {}];

  const folder = makeTemporaryFolder("shipments-test");
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  try {
    const { url, release } = await acquireEmbeddedPostgres(folder, { durable: false });
    return [url, () => release().finally(removeFolder)];
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

async function makeTemplate(adminUrl: string, template: string): Promise<void> {
  const templateUrl = new URL(adminUrl);
  templateUrl.pathname = template;
  await asAdmin(adminUrl, (admin) => admin.query(`create database ${template}`));
  await migrate(templateUrl.href);
  // PostgreSQL clones no database that somebody is connected to: so nobody may be, ever.
  await asAdmin(adminUrl, (admin) =>
    admin.query(`alter database ${template} allow_connections false`),
  );
}

async function dropDatabases(adminUrl: string, template: string): Promise<void> {
  await asAdmin(adminUrl, async (admin) => {
    const { rows } = await admin.query(
      "select datname from pg_database where starts_with(datname, $1)",
      [template],
    );
    for (const { datname } of rows) await admin.query(`drop database ${datname} with (force)`);
  });
}

async function asAdmin<T>(adminUrl: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client(adminUrl);
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}
