import type { EntityManager } from "../orm.ts";
import { type Connection, plainConnection, sendAll, type Servers } from "../servers.ts";
import type { NamedStatement } from "../statement-batch.ts";
import { connect, runStatement, type Statement } from "../statement.ts";
import { isDistributed } from "./distributed.ts";
import { createPlacements, type Placements, type Shard, shardOf } from "./placements.ts";
import { ASSERT_SHARDS, isOfNames, onShard, onShards } from "./shard-statements.ts";
import { type Node, tryNode } from "./worker-node.ts";

/** Opens the Citus cluster of a database. `undefined` if the database is not distributed. */
export async function openCluster(em: EntityManager): Promise<Servers | undefined> {
  if (!(await isDistributed((sql, values) => runStatement(em, sql, values)))) return undefined;
  const placements = createPlacements(em);
  return {
    // Citus selects the shard by this condition.
    unindexedWorkspace: "workspace_id = $1",
    async nodeOf(workspace) {
      const node = shardOf(await placements(), workspace)?.node;
      return node === undefined || node.avoidedUntilMs > performance.now() ? workspace : node;
    },
    async connect({ node, workspaces = [] }) {
      if (typeof node === "object") {
        const shards = namedShards(await placements(), node as Node, workspaces);
        const client = await tryNode(node as Node);
        if (client !== undefined) return connectionTo(client, shards);
      }
      return plainConnection(await connect(em), true);
    },
    readAll: async (statements) => readAll(em, await placements(), statements),
    countRows: (tables) => runStatement(em, COUNT_ROWS, [JSON.stringify(tables)]),
    databaseBytes: async () => (await runStatement<{ bytes: number }>(em, DATABASE_BYTES))[0]!.bytes,
    tableBytes: async () => Infinity,
  };
}

/**
 * Returns the shards of the given workspaces, by workspace. Omits shards that are not on the node, and those whose
 * tables statements may not name.
 */
function namedShards(placements: Placements, node: Node, workspaces: readonly number[]): ReadonlyMap<number, Shard> {
  const shards = new Map<number, Shard>();
  for (const workspace of workspaces) {
    const shard = shardOf(placements, workspace);
    if (shard?.node === node && shard.isNamed) shards.set(workspace, shard);
  }
  return shards;
}

/**
 * Returns a connection to a node. If possible, it rewrites statements on the given workspaces to name their shards'
 * tables.
 */
function connectionTo(client: Connection["client"], shards: ReadonlyMap<number, Shard>): Connection {
  const plain = plainConnection(client, false);
  if (shards.size === 0) return plain;
  const [anyShard] = shards.values();
  // In ascending order, so that transactions that hold several locks do not deadlock.
  const ids = [...new Set(shards.values())].map(({ id }) => id).toSorted((a, b) => a - b);
  return {
    ...plain,
    send(sql, values = []) {
      const own = shards.get(values[0] as number);
      const shard = own ?? anyShard!;
      const found = onShard(shard.statements, sql, shard.name);
      if (found === undefined || (found.ofWorkspaces && own === undefined)) return plain.send(sql, values);
      return client.send(found.text, values, found.name);
    },
    assertion: (hold) => [ASSERT_SHARDS, [ids, hold]],
    hasMoved(error) {
      if (!isOfNames(error)) return false;
      for (const shard of shards.values()) shard.isNamed = false;
      return true;
    },
  };
}

/**
 * Queries each node directly for all of its shards, because the coordinator would plan one statement per shard on
 * every call. Nodes that this process cannot reach are queried through the coordinator. Data on nodes that the
 * coordinator cannot reach either is left out.
 *
 * @throws the error if no data can be read
 */
async function readAll(
  em: EntityManager,
  { shards }: Placements,
  statements: readonly Statement[],
): Promise<unknown[][]> {
  const byNode = Map.groupBy(shards, ({ node }) => node);
  const read = await Promise.allSettled(
    [...byNode].map(async ([node, own]) => {
      const client = node && (await tryNode(node));
      return (
        client &&
        sendAll(
          client,
          statements.map((it): NamedStatement => onShards(it, own)),
        )
      );
    }),
  );
  let found = read.flatMap((each) => (each.status === "fulfilled" && each.value !== undefined ? [each.value] : []));
  if (found.length < byNode.size) {
    try {
      found = [await sendAll(await connect(em), statements)];
    } catch (error) {
      if (found.length === 0) throw error;
    }
  }
  return statements.map((_, i) => found.flatMap((rows) => rows[i]!));
}

/**
 * Adds up the row counts from all nodes. A shard's table has the name of the distributed table with a numeric suffix.
 */
const COUNT_ROWS = `
  select name as "table", coalesce(sum(counted.rows), 0)::float8 as rows
  from json_array_elements_text($1) with ordinality as asked (name, ordinality)
  left join (
    select counts.key, counts.value::float8 as rows
    from run_command_on_all_nodes($$
      select coalesce(json_object_agg(relname,
        greatest(pg_stat_get_live_tuples(oid), reltuples, 0)), '{}')
      from pg_class where relkind = 'r' and relname ~ '_[0-9]+$'
    $$) as node cross join json_each_text(node.result::json) as counts
    where node.success
  ) as counted on counted.key ~ ('^' || name || '_[0-9]+$')
  group by name, ordinality order by ordinality`;

const DATABASE_BYTES = `
  select sum(result::float8) as bytes
  from run_command_on_all_nodes('select pg_database_size(current_database())') where success`;
