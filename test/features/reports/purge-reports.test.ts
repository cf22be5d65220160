import { expect, test } from "vitest";
import { purgeReports } from "../../../src/features/reports/usage-counter.ts";
import { connectTo, createDatabase, openOrm } from "../../support/database.ts";

const database = await createDatabase();
const orm = openOrm(database.url);
const sql = await connectTo(database.url);

test("keeps usage counts for 100 days, and deletes any number of older ones in several statements", async () => {
  await sql.query("insert into workspace (id, name, created_at) values (1, 'Test', now())");
  await sql.query(
    `insert into usage_hour (workspace_id, hour, limit_class, calls)
     select 1, date_trunc('hour', now(), 'UTC') - make_interval(hours => i), 'read', 1
     from generate_series(0, 8000) i`,
  );
  await purgeReports(orm.em);
  const { rows } = await sql.query(
    `select count(*)::int as hours, min(hour) > now() - interval '100 days' as kept from usage_hour`,
  );
  expect(rows).toEqual([{ hours: 2_400, kept: true }]);
});

test("deletes replicas that were not seen for a day", async () => {
  await sql.query(
    `insert into replica (id, host_name, version, node_version, started_at, seen_at)
     select gen_random_uuid(), host_name, '0.1.0', '26.10.0', now() - interval '2 days', now() - age
     from (values ('gone', interval '25 hours'), ('lost', interval '23 hours')) as r (host_name, age)`,
  );
  await purgeReports(orm.em);
  expect((await sql.query("select host_name from replica")).rows).toEqual([{ host_name: "lost" }]);
});
