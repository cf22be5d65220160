import pg from "pg";
import { expect, test } from "vitest";
import { connectToNode, hashOf, type Node, placeOf } from "../../src/db/nodes.ts";
import { release } from "../../src/db/statement.ts";
import { book } from "../support/bookings.ts";
import { connectTo, createDatabase, openOrm } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { startService } from "../support/service.ts";

test("workspaces are hashed as PostgreSQL hashes them", async () => {
  const client = await connectTo((await createDatabase()).url);
  const ids = [
    0,
    1,
    2,
    50,
    1_000,
    2 ** 31 - 1,
    ...Array.from({ length: 200 }, (_, i) => i * 7_919),
  ];
  const { rows } = await client.query(
    "select worker_hash(id) as hash from unnest($1::bigint[]) with ordinality as it (id, place) order by place",
    [ids],
  );
  expect(ids.map(hashOf)).toEqual(rows.map(({ hash }) => hash));
});

test("a booking goes to the node that has its workspace, wherever that has moved to", async () => {
  const database = await createDatabase();
  const service = await startService({ database });
  const { apiKey, id } = await service.addWorkspace();
  const client = await connectTo(database.url);
  const placement = async () => {
    const { rows } = await client.query(
      `select shardid as shard, nodename as host, nodeport as port from pg_dist_shard_placement
       where shardid = get_shard_id_for_distribution_column('shipment', $1::bigint)`,
      [id],
    );
    return rows[0];
  };
  const portOf = async () =>
    ((await placeOf(service.app.em, id)) as Node).pool.options.connectionString;
  const first = await book(service, apiKey);
  const from = await placement();
  expect(await portOf()).toContain(`:${from.port}/`);

  const { rows: others } = await client.query(
    "select nodename as host, nodeport as port from pg_dist_node where groupid > 0 and nodeport <> $1",
    [from.port],
  );
  const to = others[0];
  await client.query(
    "select citus_move_shard_placement($1, $2, $3, $4, $5, shard_transfer_mode => 'block_writes')",
    [from.shard, from.host, from.port, to.host, to.port],
  );
  // At first by the node of before, which sends it on.
  const second = await book(service, apiKey);
  await expect.poll(portOf, { timeout: 30_000 }).toContain(`:${to.port}/`);
  const third = await book(service, apiKey);
  const stored = await client.query(
    "select reference from shipment where workspace_id = $1 order by created_at",
    [id],
  );
  expect(stored.rows.map(({ reference }) => reference)).toEqual(
    [first, second, third].map(({ reference }) => reference),
  );
});

test("a node that takes no connection is left alone, and the coordinator asked instead", async () => {
  const { em } = openOrm((await createDatabase()).url);
  const port = await freePort();
  const pool = new pg.Pool({ connectionString: `postgres://nobody@127.0.0.1:${port}/none` });
  const node = { pool, avoidedUntilMs: 0 };
  const client = await connectToNode(em, node);
  const { rows } = await client.query("select groupid from pg_dist_local_group");
  expect({ rows, isAvoided: node.avoidedUntilMs > performance.now() }).toEqual({
    rows: [{ groupid: 0 }],
    isAvoided: true,
  });
  release(client);
  await pool.end();
});
