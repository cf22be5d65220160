import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { migrate, MIGRATION_LOCK } from "../../src/db/migrate.ts";
import { applyMigrations } from "../../src/db/migrator.ts";
import { createOrm } from "../../src/db/orm.ts";
import { book } from "../support/bookings.ts";
import { connectTo, createDatabase } from "../support/database.ts";
import { startService } from "../support/service.ts";

const service = await startService();

test("adding a column does not break calls of a running service", async () => {
  const { apiKey } = await service.addWorkspace();
  const { reference, customer } = await book(service, apiKey);
  const statuses = async () =>
    Promise.all(
      [
        "/v1/shipments",
        `/v1/shipments/${reference}`,
        `/v1/shipments/${reference}/events`,
        "/v1/events",
        "/v1/customers",
        `/v1/customers/${customer.id}`,
        "/v1/webhooks",
        "/v1/workspace",
      ].map(async (path) => (await service.request(path, { apiKey })).status),
    );
  // Calls often enough that PostgreSQL caches a generic plan on every connection.
  for (let i = 0; i < 10; i++) expect(new Set(await statuses())).toEqual(new Set([200]));

  const tables = ["shipment", "customer", "event", "webhook", "workspace", "workspace_limit"];
  for (const table of [...tables, "api_key", "payment_connection"]) {
    await service.app.em.fork().execute(`alter table ${table} add column added text`);
  }
  for (let i = 0; i < 10; i++) expect(new Set(await statuses())).toEqual(new Set([200]));
});

test("a migration fails when a table is locked, so that calls do not wait behind it, and can be retried", async () => {
  const database = await createDatabase();
  const client = await connectTo(database.url);
  const statements = ["alter table sign_in_link add column later text"];
  const migrations = { "29991231000000-later": async () => ({ statements }) };
  // Locks a table as pg_dump does.
  await client.query("begin");
  await client.query("lock table sign_in_link in access share mode");
  await expect(applyMigrations(database.url, { migrations })).rejects.toMatchObject({
    code: "55P03",
  });
  await client.query("commit");
  expect(await applyMigrations(database.url, { migrations })).toEqual(Object.keys(migrations));
});

test("timeouts of the role or the database do not apply to migrations", async () => {
  const database = await createDatabase();
  const other = await connectTo(database.url);
  for (const name of ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]) {
    await other.query(`alter database ${new URL(database.url).pathname.slice(1)} set ${name} = 200`);
  }
  const orm = createOrm(database.url, { entities: [], unlimited: true });
  onTestFinished(() => orm.close());
  const settings = await orm.em.execute(
    `select current_setting('statement_timeout') as statement,
            current_setting('lock_timeout') as lock,
            current_setting('idle_in_transaction_session_timeout') as idle`,
  );
  expect(settings).toEqual([{ statement: "0", lock: "3s", idle: "0" }]);

  // Simulates another replica that is migrating.
  await other.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
  const migrating = migrate(database.url);
  await sleep(500);
  await other.query("select pg_advisory_unlock($1)", [MIGRATION_LOCK]);
  expect(await migrating).toEqual([]);
});
