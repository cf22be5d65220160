import { expect, test } from "vitest";
import { BASELINE, MIGRATIONS } from "../../src/db/migration-list.ts";
import { applyMigrations } from "../../src/db/migrator.ts";
import { splitMigration } from "../../src/db/split-migration.ts";
import { connectTo, createUnmigratedDatabase } from "../support/database.ts";

/** SQL that returns tables with a lock that blocks writers until the end of this transaction. */
const LOCKED = `
  select distinct relname as table from pg_locks join pg_class on pg_class.oid = relation
  where pid = pg_backend_pid() and relname = any ($1)
    and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`;
const READ = `
  select relname as table from pg_stat_xact_user_tables where seq_scan > 0 and relname = any ($1)`;

const { url } = await createUnmigratedDatabase();
const { [BASELINE]: baseline, ...later } = MIGRATIONS;
await applyMigrations(url, { migrations: { [BASELINE]: baseline! } });
const client = await connectTo(url);
const released = await tablesBy("select tablename as table from pg_tables where schemaname = $1", ["public"]);

/** A schema change as MikroORM generates it. `npm run migration:create` splits it. */
const CHANGE = [
  'create table "parcel" ("workspace_id" bigint not null, "number" int not null, primary key ("workspace_id", "number"));',
  'create index "parcel_number" on "parcel" ("number");',
  "",
  'alter table "customer" add "colour" text null;',
  'alter table "shipment" add "colour" text null;',
  'drop index "event_feed";',
  'create index "event_feed" on "event" ("workspace_id", "position", "subject");',
  'create unique index "shipment_colour" on "shipment" ("workspace_id", "colour");',
  'alter table "shipment" add constraint "shipment_colour_given" check (colour <> \'\');',
  'alter table "parcel" add constraint "parcel_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");',
];
const committed = await Promise.all(Object.values(later).map((load) => load()));
const migrations = [...committed, ...splitMigration(CHANGE)].map(({ statements, isTransactional: once = true }) => ({
  once,
  transactions: once ? [[...statements]] : statements.map((sql) => [sql]),
}));

test("a migration's transaction locks at most one released table and reads it only to build an index, and a migration without a transaction can be repeated", async () => {
  for (const statements of migrations.flatMap(({ transactions }) => transactions)) {
    // Flushes pending statistics, which would otherwise include earlier reads.
    await client.query("select pg_stat_force_next_flush()");
    await client.query("begin");
    for (const sql of statements) await client.query(sql);
    const locked = await tablesBy(LOCKED, [released]);
    const read = await tablesBy(READ, [locked]);
    await client.query("commit");
    expect(locked.length, `${locked} locked by ${statements}`).toBeLessThanOrEqual(1);
    const isIndex = statements.length === 1 && /^create (unique )?index /.test(statements[0]!);
    expect(isIndex ? [] : read, `read by ${statements}`).toEqual([]);
  }
  for (const { once, transactions } of migrations) {
    for (const sql of once ? [] : transactions.flat()) await client.query(sql);
  }
});

async function tablesBy(sql: string, values: unknown[]): Promise<string[]> {
  const { rows } = await client.query<{ table: string }>(sql, values);
  return rows.map(({ table }) => table);
}
