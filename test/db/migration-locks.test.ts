import { expect, test } from "vitest";
import { BASELINE, MIGRATIONS } from "../../src/db/migration-list.ts";
import { applyMigrations } from "../../src/db/migrator.ts";
import { connectTo, createUnmigratedDatabase, openOrm } from "../support/database.ts";

/** What others can write to only when this transaction has ended, and what of it this transaction has read. */
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
const released = await tablesBy("select tablename as table from pg_tables where schemaname = $1", [
  "public",
]);

const { em } = openOrm(url);
const migrations = await Promise.all(
  Object.values(later).map(async (load) => {
    const migration = new (await load())(em.getDriver(), em.config);
    await migration.up();
    const statements = migration.getQueries() as string[];
    const once = migration.isTransactional();
    return { once, transactions: once ? [statements] : statements.map((it) => [it]) };
  }),
);

test("a migration locks one table at a time of those that replicas of the release before write to, reads it meanwhile for an index alone, and can be repeated where it is in no transaction", async () => {
  for (const statements of migrations.flatMap(({ transactions }) => transactions)) {
    // What was read before counts until it is reported.
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
