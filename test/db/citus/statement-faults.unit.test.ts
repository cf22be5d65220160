import { expect, test } from "vitest";
import { faultOf } from "../../support/statement-faults.ts";

const IN_FEED = "where workspace_id = $1";

test.each([
  "select 1",
  "select name from customer where workspace_id = $1 and id = $2",
  "select c.name from customer as c join feed on feed.workspace_id = $1 where c.workspace_id = $1::bigint",
  `select (select position from feed ${IN_FEED}) from (select id from webhook ${IN_FEED} for share) as webhook`,
  `with moved as (update feed set position = 2 ${IN_FEED} returning position) select position from moved`,
  `insert into event (workspace_id, id) select feed.workspace_id, 1 from feed ${IN_FEED}`,
  "insert into feed (workspace_id) values ($1) on conflict (workspace_id) do update set position = excluded.position",
  "select max(version) from tariff_version",
  // Citus routes these.
  "select name from customer where id = $1",
  "select from workspace where id = $1 for update",
])("%j has no fault", (sql) => {
  expect(faultOf(sql)).toBe(undefined);
});

test.each([
  [`select name from feed, customer ${IN_FEED}`, "renaming misses a table or changes other text"],
  [`select position from "feed" ${IN_FEED}`, "renaming misses a table or changes other text"],
  [`select position from feed f ${IN_FEED}`, "renaming misses a table or changes other text"],
  [`select 'from feed' from webhook ${IN_FEED}`, "renaming misses a table or changes other text"],
  ["select position from feed where workspace_id = $1 or true", "feed is not restricted to one workspace"],
  ["select position from feed where not workspace_id = $1", "feed is not restricted to one workspace"],
  [
    "select name from customer left join feed on customer.workspace_id = $1 and feed.workspace_id = $1",
    "customer is not restricted to one workspace",
  ],
  [
    `select name from customer where exists (select from feed ${IN_FEED} and feed.workspace_id = $1)`,
    "customer is not restricted to one workspace",
  ],
  [`select position from feed join audit_entry on true ${IN_FEED}`, "audit_entry is not a table of the node"],
  [`with feed as (select 1) select from feed ${IN_FEED}`, "feed is not a table of the node"],
  [`update feed set workspace_id = 2 ${IN_FEED}`, "rows move to another workspace"],
  [
    "insert into feed (workspace_id, position) values ($1, 2), ($2, 2), (workspace_id = $1, 1)",
    "feed is not restricted to one workspace",
  ],
  [
    "select from feed join workspace on true where feed.workspace_id = $1 FOR UPDATE",
    "workspace is stored on all nodes and cannot be changed on one",
  ],
  [
    "select position from feed where workspace_id=$1",
    "the statement is sent to Citus although it could run on the shard",
  ],
])("%j has a fault: %s", (sql, fault) => {
  expect(faultOf(sql)).toBe(fault);
});
