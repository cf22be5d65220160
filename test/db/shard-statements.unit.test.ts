import { expect, test } from "vitest";
import { onShard, withTables } from "../../src/db/shard-statements.ts";

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
  [
    "delete from webhook_lease where id = $1",
    "delete from webhook_lease_7 as webhook_lease where id = $1",
  ],
  ["select version from tariff_version", "select version from tariff_version_7 as tariff_version"],
  ["select null::shipment, event from asked", "select null::shipment, event from asked"],
  ["select id from shipment.customer", "select id from shipment.customer"],
  ["on conflict do update set event = 1", "on conflict do update set event = 1"],
])("%j names the tables of a shard: %j", (sql, expected) => {
  expect(withTables(sql, ofShard)).toBe(expected);
});

test("of each shard only so many statements are prepared", () => {
  const known = new Map();
  const made = Array.from({ length: 61 }, (_, i) =>
    onShard(known, `select ${i} from shipment`, ofShard),
  );
  expect(made.filter((it) => it !== undefined).length).toBe(60);
  expect(onShard(known, "select 0 from shipment", ofShard)).toBe(made[0]);
  expect(new Set(made.map((it) => it?.name)).size).toBe(61);
});

test("what all nodes have is known from what workspaces have", () => {
  const known = new Map();
  const isOfWorkspaces = (sql: string) => onShard(known, sql, ofShard)?.ofWorkspaces;
  expect(
    ["select 1", "select max(version) from tariff_version", "update feed set position = 1"].map(
      isOfWorkspaces,
    ),
  ).toEqual([undefined, false, true]);
});
