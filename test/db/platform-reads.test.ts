import type { MikroORM } from "@mikro-orm/postgresql";
import { beforeEach, expect, inject, test } from "vitest";
import { type DueRow, findDue, type PlatformRead, readPlatform } from "../../src/db/platform-reads.ts";
import { runSql } from "../citus/cluster.ts";
import { createDatabase, openOrm, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";

interface DueWorkspace extends DueRow {
  readonly workspace: number;
}

/** Number of workspaces. High enough that every shard has some. */
const WORKSPACES = 100;
const ALL = Array.from({ length: WORKSPACES }, (_, i) => i + 1);

const isCluster = inject("adminDatabaseUrls").length > 1;

const due = (limit: number): PlatformRead => ({
  sql: `
    select workspace_id::float8 as workspace, extract(epoch from changed_at)::float8 as due
    from feed where position >= $1 order by changed_at limit $2::int`,
  values: [7, limit],
});
const counted: PlatformRead = {
  sql: `select count(*)::int as count from feed`,
};

let database: TestDatabase;
let orm: MikroORM;

/** Creates workspaces with feeds. The last one has the earliest change. The feeds of the first ten are short. */
beforeEach(async () => {
  database = await createDatabase();
  orm = openOrm(database.url);
  await runSql(
    database.url,
    `insert into workspace (name, created_at) select 'W', now() from generate_series(1, ${WORKSPACES})`,
    `insert into feed (workspace_id, position, changed_at)
     select i, case when i <= 10 then 1 else 7 end, to_timestamp(1000 - i) from generate_series(1, ${WORKSPACES}) i`,
  );
});

test("a read across workspaces returns rows of all workspaces on all servers", async () => {
  const [found = [], counts = []] = await readPlatform<DueWorkspace & { count: number }>(
    orm.em,
    due(WORKSPACES),
    counted,
  );
  expect(found.map(({ workspace }) => workspace).toSorted((a, b) => a - b)).toEqual(ALL.slice(10));
  expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(WORKSPACES);
});

test("queries each server directly", async () => {
  const connections: PlatformRead = {
    sql: `
      select distinct pg_backend_pid() as pid, current_setting('application_name') as name
      from feed`,
  };
  const [found = []] = await readPlatform<{ pid: number; name: string }>(orm.em, connections);
  expect(new Set(found.map(({ name }) => name))).toEqual(new Set(["shipments"]));
  const servers = isCluster ? inject("adminDatabaseUrls").length - 1 : 1;
  expect(new Set(found.map(({ pid }) => pid)).size).toBe(servers);
});

test("returns the most urgent due rows of all workspaces, up to the limit", async () => {
  const [three, all] = await Promise.all([
    findDue<DueWorkspace>(orm.em, due(3), 3),
    findDue<DueWorkspace>(orm.em, due(WORKSPACES), WORKSPACES),
  ]);
  expect(three).toEqual([100, 99, 98].map((it) => ({ workspace: it, due: 1000 - it })));
  expect(all.map(({ workspace }) => workspace)).toEqual(ALL.slice(10).toReversed());
});

test("rejects if a read fails", async () => {
  await expect(findDue(orm.em, { sql: "select 1 / 0" }, 1)).rejects.toThrow("division by zero");
});

test.runIf(isCluster)("reads a shard from its new node after a move", async () => {
  const read = () => findDue<DueWorkspace>(orm.em, due(WORKSPACES), WORKSPACES);
  await read();
  const [moved] = await runSql(
    database.url,
    `select citus_move_shard_placement(shardid, a.nodename, a.nodeport, b.nodename, b.nodeport, 'block_writes')
     from pg_dist_shard join pg_dist_shard_placement a using (shardid) cross join pg_dist_node b
     where logicalrelid = 'feed'::regclass and b.noderole = 'primary' and b.shouldhaveshards
       and b.nodeport <> a.nodeport
       and shardid = get_shard_id_for_distribution_column('feed', 50)`,
  );
  expect(moved).toBeDefined();
  await runSql(database.url, "update feed set changed_at = to_timestamp(1) where workspace_id = 50");
  await eventually("the latest change", async () => (await read())[0]?.workspace === 50);
});

test.runIf(isCluster)("reads through the coordinator if a node cannot return the rows directly", async () => {
  const [, node] = inject("adminDatabaseUrls");
  const name = new URL(database.url).pathname.slice(1);
  await runSql(
    node!.replace(/\/[^/]*$/, `/${name}`),
    "set citus.enable_ddl_propagation to off",
    `alter database ${name} set search_path to nowhere`,
  );
  const found = await findDue<DueWorkspace>(orm.em, due(WORKSPACES), WORKSPACES);
  expect(found.map(({ workspace }) => workspace)).toEqual(ALL.slice(10).toReversed());
});
