import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { acquireEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { migrate } from "../../src/db/migrate.ts";
import { distribute } from "../../src/db/citus/distribute.ts";
import { createOrm } from "../../src/db/orm.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { dropDatabase, inDatabase, joinNodes, runSql } from "../citus/cluster.ts";
import { buildOutdated } from "./build-outdated.ts";
import { publishDocument } from "./publish-document.ts";
import { SAMPLE_TARIFF } from "./tariffs.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * URLs of the servers on which databases are created: one server, or a Citus cluster's nodes, coordinator first.
     */
    adminDatabaseUrls: readonly string[];
    /** Name of the migrated, empty template database, and prefix of all databases in this run. */
    templateDatabase: string;
    /** Name of the template database with the sample tariff in force. */
    tariffTemplateDatabase: string;
    /** File of the statements sent in batches, such as those that a cluster may run on shards. */
    sentStatements: string;
  }
}

/** Reverts a setup step. */
type Undo = () => Promise<void>;

/**
 * Sets up the run: builds the program and pages, starts PostgreSQL and creates a migrated template database.
 *
 * Without TEST_DATABASE_URL, the run starts its own server in a temporary folder. On a server given by
 * TEST_DATABASE_URL, the run creates and drops only databases with its own prefix. TEST_DATABASE_URL can also list
 * the nodes of a Citus cluster, coordinator first, separated by spaces. Databases are then distributed.
 */
export default async function setUp(project: TestProject): Promise<Undo> {
  await buildOutdated();
  const [adminUrls, leaveServer] = await enterServer();
  const template = `shipments_test_${randomBytes(6).toString("hex")}`;
  const tariffTemplate = `${template}_tariff`;
  const tearDown = async () => {
    try {
      await dropDatabases(adminUrls, template);
    } finally {
      await leaveServer();
    }
  };
  try {
    await makeTemplate(adminUrls, template);
    await makeTariffTemplate(adminUrls, tariffTemplate, template);
  } catch (error) {
    await tearDown();
    throw error;
  }
  const folder = makeTemporaryFolder("shipments-statements");
  const sentStatements = join(folder, "sent");
  writeFileSync(sentStatements, "");
  project.provide("adminDatabaseUrls", adminUrls);
  project.provide("templateDatabase", template);
  project.provide("tariffTemplateDatabase", tariffTemplate);
  project.provide("sentStatements", sentStatements);
  return async () => {
    try {
      const { assertNoFaults } = await import("./statement-faults.ts");
      // On a cluster the tables of the sent statements are renamed already.
      if (adminUrls.length === 1) assertNoFaults(sentStatements);
    } finally {
      await rm(folder, { recursive: true });
      await tearDown();
    }
  };
}

async function enterServer(): Promise<[urls: readonly string[], leave: Undo]> {
  const theirs = process.env.TEST_DATABASE_URL;
  if (theirs) return [theirs.split(" "), async () => {}];

  const folder = makeTemporaryFolder("shipments-test");
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  try {
    const { url, release } = await acquireEmbeddedPostgres(folder, { durable: false });
    guard(folder);
    return [[url], () => release().finally(removeFolder)];
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

/** Waits until this process has ended. If it was killed, PostgreSQL is still running and its folder exists. */
const GUARD = `
  read -r _
  file="$1/postgres/postmaster.pid"
  kill -QUIT "$(head -n 1 "$file")"
  for _ in $(seq 100); do [ -e "$file" ] && sleep 0.1; done
  rm -rf "$1"`;

/** Stops PostgreSQL and removes its folder if this process is killed, for example because the tests are interrupted. */
function guard(folder: string): void {
  spawn("sh", ["-c", GUARD, "sh", folder], { stdio: ["pipe", "ignore", "ignore"], detached: true }).unref();
}

/** Number of shards in a distributed database. Small, because every test clones their tables. */
const SHARDS = 4;

async function makeTemplate(adminUrls: readonly string[], template: string): Promise<void> {
  const url = inDatabase(adminUrls[0]!, template);
  for (const node of adminUrls) await runSql(node, `create database ${template}`);
  if (adminUrls.length > 1) await joinNodes(adminUrls, template);
  await migrate(url);
  if (adminUrls.length > 1) await distribute(url, SHARDS, () => undefined);
  await closeForCloning(adminUrls, template);
}

async function makeTariffTemplate(adminUrls: readonly string[], name: string, template: string): Promise<void> {
  for (const node of adminUrls) await runSql(node, `create database ${name} template ${template}`);
  const orm = createOrm(inDatabase(adminUrls[0]!, name), { entities: ENTITIES });
  await publishDocument(orm.em, SAMPLE_TARIFF).finally(() => orm.close());
  await closeForCloning(adminUrls, name);
}

/** Closes connections to a database, such as those between nodes. PostgreSQL cannot clone a database in use. */
async function closeForCloning(adminUrls: readonly string[], name: string): Promise<void> {
  for (const node of adminUrls) {
    await runSql(node, `alter database ${name} allow_connections false`);
    await runSql(node, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  }
}

async function dropDatabases(adminUrls: readonly string[], template: string): Promise<void> {
  const databases = await runSql(
    adminUrls[0]!,
    `select datname from pg_database where starts_with(datname, '${template}')`,
  );
  for (const { datname } of databases) await dropDatabase(adminUrls, datname as string);
}
