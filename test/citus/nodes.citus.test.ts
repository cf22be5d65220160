import { randomBytes } from "node:crypto";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { hashOf } from "../../src/db/citus/placements.ts";
import type { Node } from "../../src/db/citus/worker-node.ts";
import type { EntityManager } from "../../src/db/orm.ts";
import type { DataLocation } from "../../src/db/servers.ts";
import { serversOf } from "../../src/db/servers-of.ts";
import { release } from "../../src/db/statement.ts";
import { inBatches, inPipeline, type Transaction } from "../../src/db/transaction.ts";
import { book } from "../support/bookings.ts";
import { connectTo, createDatabase, openOrm } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startService } from "../support/service.ts";
import { runSql } from "./cluster.ts";

test("hashes workspace ids like PostgreSQL", async () => {
  const client = await connectTo((await createDatabase()).url);
  const ids = [0, 1, 2, 50, 1_000, 2 ** 31 - 1, ...Array.from({ length: 200 }, (_, i) => i * 7_919)];
  const { rows } = await client.query(
    "select worker_hash(id) as hash from unnest($1::bigint[]) with ordinality as it (id, ordinality) order by ordinality",
    [ids],
  );
  expect(ids.map(hashOf)).toEqual(rows.map(({ hash }) => hash));
});

const nodeOf = async (em: EntityManager, workspace: number) => (await serversOf(em)).nodeOf(workspace);

/** Returns the node of a workspace's shard, and the nodes to which it can move. */
async function placementOf(client: pg.Client, workspace: number) {
  const { rows } = await client.query(
    `select shardid as shard, here.nodename as host, here.nodeport as port, other.nodename as "toHost", other.nodeport as "toPort"
     from pg_dist_shard_placement as here
     join pg_dist_node as other on other.groupid > 0 and other.nodeport <> here.nodeport
     where shardid = get_shard_id_for_distribution_column('shipment', $1::bigint)`,
    [workspace],
  );
  return rows[0];
}

async function move(client: pg.Client, workspace: number): Promise<void> {
  const { shard, host, port, toHost, toPort } = await placementOf(client, workspace);
  await client.query("select citus_move_shard_placement($1, $2, $3, $4, $5, shard_transfer_mode => 'block_writes')", [
    shard,
    host,
    port,
    toHost,
    toPort,
  ]);
}

test("a booking goes to the node that stores its workspace, also after a move", async () => {
  const database = await createDatabase();
  const service = await startService({ database });
  const { em } = service.app;
  const { apiKey, id } = await service.addWorkspace();
  const client = await connectTo(database.url);
  const portOf = async () => ((await nodeOf(em, id)) as Node).pool.options.connectionString;
  const references = () => readReferences(em, id, { node: before, workspaces: [id] });
  const first = await book(service, apiKey);
  const before = await nodeOf(em, id);
  expect(await portOf()).toContain(`:${(await placementOf(client, id)).port}/`);

  await move(client, id);
  // The move leaves the old shard in place for a while.
  const second = await book(service, apiKey);
  expect(await references()).toEqual([first, second].map(({ reference }) => reference));
  await expect.poll(portOf, { timeout: 30_000 }).toContain(`:${(await placementOf(client, id)).port}/`);
  const third = await book(service, apiKey);
  expect(await references()).toEqual([first, second, third].map(({ reference }) => reference));
});

test("a read at the former node of a moved workspace returns rows written after the move", async () => {
  const database = await createDatabase();
  const service = await startService({ database });
  const { em } = openOrm(database.url);
  const { apiKey, id } = await service.addWorkspace();
  const location = { node: await nodeOf(em, id), workspaces: [id] };
  expect(await readReferences(em, id, location)).toEqual([]);
  await move(await connectTo(database.url), id);
  const { reference } = await book(service, apiKey);
  expect(await readReferences(em, id, location)).toEqual([reference]);
});

function readReferences(em: EntityManager, workspace: number, location: DataLocation) {
  const sql = "select reference from shipment where workspace_id = $1 order by created_at";
  const read = async (send: Transaction["send"]) =>
    (await send<{ reference: string }>(sql, [workspace])).map(({ reference }) => reference);
  return inBatches(em, read, location);
}

test("bookings and reads continue after a workspace is isolated in its own shard", async () => {
  const database = await createDatabase();
  const service = await startService({ database });
  const { em } = service.app;
  const { apiKey, id } = await service.addWorkspace();
  const first = await book(service, apiKey);
  const location = { node: await nodeOf(em, id), workspaces: [id] };
  const client = await connectTo(database.url);
  await client.query(
    "select isolate_tenant_to_new_shard('shipment', $1::bigint, 'CASCADE', shard_transfer_mode => 'block_writes')",
    [id],
  );
  const second = await book(service, apiKey);
  expect(await readReferences(em, id, location)).toEqual([first, second].map(({ reference }) => reference));
});

test("a role that does not own the tables can query a shard's tables by name", async () => {
  const database = await createDatabase();
  const role = `r${randomBytes(6).toString("hex")}`;
  await runSql(database.url, `create role ${role} login`, `grant select on shipment to ${role}`);
  onTestFinished(async () => {
    await runSql(database.url, `drop owned by ${role}`, `drop role ${role}`);
  });
  const { em } = openOrm(Object.assign(new URL(database.url), { username: role }).href);
  const node = await nodeOf(em, 1);
  const plan = "explain (costs off) select reference from shipment where workspace_id = $1";
  const read = async (tx: Pick<Transaction, "send">) => JSON.stringify(await tx.send(plan, [1]));
  const location = { node, workspaces: [1] };
  expect([await inPipeline(em, read, location), await inBatches(em, (send) => read({ send }), location)]).toEqual(
    Array(2).fill(expect.stringMatching(/Index.* on shipment_\d+ shipment/)),
  );
});

test("a workspace moves after the transactions that write to it have finished", async () => {
  const database = await createDatabase();
  const { em } = openOrm(database.url);
  await runSql(database.url, "insert into workspace (id, name, created_at) values (1, 'W', now())");
  const client = await connectTo(database.url);
  const node = (await nodeOf(em, 1)) as Node;
  const isWaiting = async () => {
    const sql = `
      select from pg_locks join pg_database on pg_database.oid = database
      where locktype = 'advisory' and not granted and datname = current_database()`;
    return (await node.pool.query(sql)).rows.length > 0;
  };
  const written = Promise.withResolvers<void>();
  const writing = inPipeline(
    em,
    async (tx) => {
      await tx.send("insert into feed (workspace_id, position, changed_at) values ($1, 7, now())", [1]);
      await written.promise;
    },
    { node, workspaces: [1] },
  );
  const moving = move(client, 1);
  await eventually("the move to wait", isWaiting).finally(written.resolve);
  await Promise.all([writing, moving]);
  const { rows } = await client.query("select position::int from feed where workspace_id = 1");
  expect(rows).toEqual([{ position: 7 }]);
});

test("queries the coordinator when a node refuses connections, and avoids the node", async () => {
  const { em } = openOrm((await createDatabase()).url);
  const port = await freePort();
  const pool = new pg.Pool({ connectionString: `postgres://nobody@127.0.0.1:${port}/none` });
  const node = { pool, avoidedUntilMs: 0 };
  const { client } = await (await serversOf(em)).connect({ node });
  const { rows } = await client.query("select groupid from pg_dist_local_group");
  expect({ rows, isAvoided: node.avoidedUntilMs > performance.now() }).toEqual({
    rows: [{ groupid: 0 }],
    isAvoided: true,
  });
  release(client);
  await pool.end();
});
