import { expect, test } from "vitest";
import { onShard, withTables } from "../../../src/db/citus/shard-statements.ts";

const ofShard = (table: string) => `${table}_7`;

test.each([
  ["select 1", "select 1"],
  ["select name from customer", "select name from customer_7 as customer"],
  ["select s.id from shipment as s", "select s.id from shipment_7 as s"],
  [
    "from feed cross join webhook where feed.position = event.position",
    "from feed_7 as feed cross join webhook_7 as webhook where feed.position = event.position",
  ],
  ["insert into event (id) values ($1)", "insert into event_7 as event (id) values ($1)"],
  ["update payment set state = $2", "update payment_7 as payment set state = $2"],
  ["delete from webhook_lease where id = $1", "delete from webhook_lease_7 as webhook_lease where id = $1"],
  ["select version from tariff_version", "select version from tariff_version_7 as tariff_version"],
  ["select null::shipment, event from asked", "select null::shipment, event from asked"],
  ["select id from shipment.customer", "select id from shipment.customer"],
  ["on conflict do update set event = 1", "on conflict do update set event = 1"],
])("renames the tables of %j to a shard's: %j", (sql, expected) => {
  expect(withTables(sql, ofShard)).toBe(expected);
});

const namesOf = (sql: string) => onShard(new Map(), sql, ofShard);

test.each([
  "select name from customer where workspace_id = $1 and id = $2",
  "update feed set position = $2 where feed.workspace_id = $1",
  "insert into event (workspace_id, id) values ($1, $2)",
  "insert into event (workspace_id, id)\n  select $1, written.id from json_to_recordset($2) as written (id int)",
  "insert into event (workspace_id, id) select feed.workspace_id, 1 from feed where feed.workspace_id = $1",
])("%j belongs to the workspace in its first parameter", (sql) => {
  expect(namesOf(sql)?.ofWorkspaces).toBe(true);
});

test.each([
  "select name from customer where id = $1 and workspace_id = $2",
  "select name from customer where workspace_id = $10",
  "insert into event (id, workspace_id) values ($1, $2)",
  "insert into event (workspace_id, id) values ($2, $1)",
  "insert into event (workspace_id, id) select $12, $1",
  "select name from customer join feed on true where feed.workspace_id = $1",
  "insert into event (workspace_id, id) select $1, id from webhook",
  "delete from webhook_lease where until <= $1",
  "select from workspace where id = $1 for no key update",
  "select from feed join workspace on id = feed.workspace_id\nwhere workspace_id = $1 for key share",
  "update workspace set name = $2 where id = $1",
])("%j is left to Citus", (sql) => {
  expect(namesOf(sql)).toBe(undefined);
});

test("reference tables belong to no workspace, and statements without tables stay unchanged", () => {
  expect(namesOf("select max(version) from tariff_version")?.ofWorkspaces).toBe(false);
  expect(namesOf("commit")).toBe(undefined);
});

test("limits the prepared statements of a shard and names each uniquely", () => {
  const known = new Map();
  const sqlOf = (i: number) => `select ${i} from shipment where workspace_id = $1`;
  const made = Array.from({ length: 101 }, (_, i) => onShard(known, sqlOf(i), ofShard));
  expect(made.filter((it) => it !== undefined).length).toBe(100);
  expect(new Set(made.map((it) => it?.name)).size).toBe(101);
  expect(onShard(known, sqlOf(0), ofShard)).toBe(made[0]);
});
