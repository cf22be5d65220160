import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type pg from "pg";
import { expect, inject, test } from "vitest";
import { applyMigrations } from "../../src/db/migrator.ts";
import { migrate } from "../../src/db/migrate.ts";
import { distribute } from "../../src/db/citus/distribute.ts";
import { DISTRIBUTED_TABLES, isDistributed } from "../../src/db/citus/distributed.ts";
import { runStatement } from "../../src/db/statement.ts";
import { book } from "../support/bookings.ts";
import { runCommand, runJson } from "../support/command.ts";
import { connectTo, createDatabase, createUnmigratedDatabase, openOrm } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { startService } from "../support/service.ts";
import { findPrograms, inDatabase, joinNodes, runSql } from "./cluster.ts";

const [COORDINATOR, ...WORKERS] = inject("adminDatabaseUrls") as [string, ...string[]];

/** Creates a migrated database whose nodes are joined, but that is not distributed yet. */
async function createJoinedDatabase() {
  const { url } = await createUnmigratedDatabase();
  await joinNodes([COORDINATOR, ...WORKERS], nameOf(url));
  await migrate(url);
  return { url };
}

const isDistributedAt = (url: string) => isDistributed((sql, values) => runStatement(openOrm(url).em, sql, values));

const nameOf = (url: string) => new URL(url).pathname.slice(1);

const distributeCommand = (url: string, ...args: readonly string[]) =>
  runCommand(["distribute", ...args], { DATABASE_URL: url });

/** Returns all rows of the tables with workspace data, and the number of rows stored on the coordinator. */
async function rowsOf(client: pg.Client): Promise<Record<string, unknown>> {
  const rows: Record<string, unknown> = {};
  for (const table of DISTRIBUTED_TABLES) {
    rows[table] = (await client.query(`select * from ${table} order by 1, 2, 3`)).rows;
  }
  return rows;
}

test("distributes a database with data by workspace in steps and keeps its data and constraints", async () => {
  const database = await createJoinedDatabase();
  const service = await startService({ database });
  const { apiKey } = await service.addWorkspace();
  const other = await service.addWorkspace();
  const { reference } = await book(service, apiKey);
  await book(service, other.apiKey);
  await service.close();
  const client = await connectTo(database.url);
  const before = await rowsOf(client);
  // Excludes foreign keys of shards on the coordinator, whose names end in a number.
  const foreignKeys = `select conname from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace
      and conrelid::regclass::text !~ '_[0-9]+$' order by 1`;
  const { rows: keysBefore } = await client.query(foreignKeys);

  const { code, stdout, stderr } = await distributeCommand(database.url, "--shards", "6");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.split("\n")).toEqual([
    "Copied workspace to every node.",
    "Copied tariff_version to every node.",
    ...DISTRIBUTED_TABLES.map((table) => `Distributed ${table}.`),
    `Recreated ${recreatedKeys(stdout)} foreign keys.`,
    "Committed: the tables are distributed.",
    ...removedCopies(stdout),
    "Done.",
    "",
  ]);
  expect(removedCopies(stdout)).toContain("Removed the coordinator's own copy of shipment.");

  expect(await rowsOf(client)).toEqual(before);
  expect((await client.query(foreignKeys)).rows).toEqual(keysBefore);
  const { rows: shards } = await client.query(
    `select table_name::text as name, count(distinct shardid)::int as shards, count(distinct nodeport)::int as nodes
     from citus_shards where citus_table_type = 'distributed' group by 1`,
  );
  expect(shards.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual(
    DISTRIBUTED_TABLES.toSorted().map((name) => ({ name, shards: 6, nodes: WORKERS.length })),
  );
  await expect(
    client.query("update shipment set customer_id = 0 where workspace_id = 1 and reference = $1", [reference]),
  ).rejects.toMatchObject({ code: "23503" });
});

const recreatedKeys = (stdout: string) => /Recreated (\d+) foreign/.exec(stdout)?.[1];
const removedCopies = (stdout: string) => stdout.split("\n").filter((line) => line.startsWith("Removed"));

test("distributing a distributed database changes nothing and reports no steps", async () => {
  const { url } = await createDatabase();
  expect(await isDistributedAt(url)).toBe(true);
  expect(await distributeCommand(url)).toEqual({
    code: 0,
    stdout: "The database is already distributed.\n",
    stderr: "",
  });
  expect(await runJson(["distribute"], { DATABASE_URL: url })).toEqual({ steps: [] });
});

test("a distribution that fails before its commit changes nothing and can be repeated", async () => {
  const { url } = await createJoinedDatabase();
  const broken = distribute(url, 4, (step) => {
    if (step === "Distributed event.") throw new Error("broken off");
  });
  await expect(broken).rejects.toThrow("broken off");
  expect(await isDistributedAt(url)).toBe(false);
  await distribute(url, 4, () => undefined);
  expect(await isDistributedAt(url)).toBe(true);
});

test("repeating a distribution removes the copy that a crash left on the coordinator", async () => {
  const { url } = await createJoinedDatabase();
  await runSql(url, "insert into workspace (id, name, created_at) values (1, 'One', now())");
  const crashed = distribute(url, 4, (step) => {
    if (step.startsWith("Committed")) throw new Error("crashed");
  });
  await expect(crashed).rejects.toThrow("crashed");
  const steps: string[] = [];
  await distribute(url, 4, (step) => steps.push(step));
  expect(steps).toEqual(["Removed the coordinator's own copy of workspace."]);
});

test.each<[missing: string, sentence: string, prepare: (url: string) => Promise<string | void>]>([
  [
    "the extension",
    "it has no extension citus; install Citus on every node, name it in shared_preload_libraries, and create the extension in this database of every node",
    async () => undefined,
  ],
  [
    "the coordinator's address",
    "the coordinator has no address that the other nodes know; run select citus_set_coordinator_host('<host>', <port>) there",
    (url) => runSql(url, "create extension citus").then(() => undefined),
  ],
  [
    "worker nodes",
    "the coordinator has no worker nodes; add them by select citus_add_node('<host>', <port>) there",
    (url) => joinNodes([COORDINATOR], nameOf(url)),
  ],
])("does not distribute without %s and reports the reason: %s", async (_, sentence, prepare) => {
  const { url } = await createUnmigratedDatabase();
  await prepare(url);
  expect(await distributeCommand(url)).toEqual({
    code: 1,
    stdout: "",
    stderr: `cannot use the database: ${sentence}\n`,
  });
});

test("refuses to distribute from a worker node", async () => {
  const { url } = await createJoinedDatabase();
  await expect(distribute(inDatabase(WORKERS[0]!, nameOf(url)), 4, () => undefined)).rejects.toThrow(
    "cannot use the database: it is a worker node; name the coordinator in DATABASE_URL",
  );
});

test("refuses an extension that is too old", async () => {
  const { url } = await createJoinedDatabase();
  await runSql(url, "update pg_extension set extversion = '12.1-1' where extname = 'citus'");
  await expect(distribute(url, 4, () => undefined)).rejects.toThrow(
    "cannot use the database: its extension citus is 12.1-1; update it to 13 or newer",
  );
});

test("refuses a database that the service is using", async () => {
  const database = await createJoinedDatabase();
  const service = await startService({ database });
  const client = await connectTo(database.url);
  await eventually("the connection for changes", async () => {
    const { rowCount } = await client.query(
      "select from pg_stat_activity where datname = current_database() and application_name = 'shipments changes'",
    );
    return rowCount === 1;
  });
  await expect(distribute(database.url, 4, () => undefined)).rejects.toThrow(
    "cannot use the database: 1 processes of the service use it; stop them, and start them again afterwards",
  );
  await service.close();
  await distribute(database.url, 4, () => undefined);
});

test("the coordinator looks up a key without querying other nodes", async () => {
  const { url } = await createDatabase();
  const client = await connectTo(url);
  const remote: string[] = [];
  client.on("notice", ({ message = "" }) => {
    if (message.startsWith("issuing ")) remote.push(message);
  });
  await client.query("set citus.log_remote_commands to on");
  await client.query("select * from api_key join workspace on workspace.id = api_key.workspace_id where hash = $1", [
    "h".repeat(43),
  ]);
  expect(remote).toEqual([]);
  await client.query("select count(*) from shipment");
  expect(remote).not.toEqual([]);
});

test("a dump of a distributed database contains the data of all nodes, and the restored database can be distributed", async () => {
  const database = await createDatabase();
  const service = await startService({ database });
  const { apiKey } = await service.addWorkspace();
  await Promise.all([book(service, apiKey), book(service, (await service.addWorkspace()).apiKey)]);
  await service.close();
  const rows = await rowsOf(await connectTo(database.url));
  const restored = await createUnmigratedDatabase();
  const run = (program: string, args: readonly string[], input?: string) =>
    execFileSync(join(findPrograms()!, program), args, { input, maxBuffer: 2 ** 28 }).toString();
  const dump = run("pg_dump", ["--schema=public", database.url]);
  run("psql", ["--quiet", restored.url], dump);
  const client = await connectTo(restored.url);
  expect(await rowsOf(client)).toEqual(rows);
  await joinNodes([COORDINATOR, ...WORKERS], nameOf(restored.url));
  await distribute(restored.url, 4, () => undefined);
  expect(await rowsOf(client)).toEqual(rows);
});

/** Example of a migration in a later release. */
const LATER = [
  `drop table "webhook_lease";`,
  `create table "webhook_lease" ("workspace_id" bigint not null, "webhook_id" text not null, "worker" text not null, "leased_until" timestamptz(3) not null, primary key ("workspace_id", "webhook_id"));`,
  `alter table "webhook_lease" add constraint "lease_of_workspace" foreign key ("workspace_id") references "workspace" ("id") on update cascade;`,
  `alter table "webhook_lease" add constraint "lease_of_webhook" foreign key ("workspace_id", "webhook_id") references "webhook" ("workspace_id", "id") on update cascade on delete cascade;`,
  `create table "parcel" ("id" bigint not null, primary key ("id"));`,
  `alter table "shipment" add "colour" text null;`,
  `create index "shipment_by_colour" on "shipment" ("workspace_id", "colour");`,
  `alter table "shipment" add constraint "shipment_colour" check (colour <> 'mauve');`,
  `update shipment set colour = 'red';`,
];

test("applies a later release's migrations to a distributed database", async () => {
  const { url } = await createDatabase();
  const migrations = { "29991231000000-later": async () => ({ statements: LATER }) };
  expect(await applyMigrations(url, { distributed: true, migrations })).toEqual(["29991231000000-later"]);
  const client = await connectTo(url);
  await client.query("select colour from shipment");
  const { rows } = await client.query(
    `select relname as name, exists (
       select from pg_dist_partition where logicalrelid = pg_class.oid and partmethod = 'h'
     ) as distributed
     from pg_class where oid in ('webhook_lease'::regclass, 'parcel'::regclass) order by 1`,
  );
  expect(rows).toEqual([
    { name: "parcel", distributed: false },
    { name: "webhook_lease", distributed: true },
  ]);
});
