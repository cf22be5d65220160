import { onBehalfOfAll } from "../connection-shares.ts";
import type { EntityManager } from "../orm.ts";
import { poolOf, runStatement } from "../statement.ts";
import { DISTRIBUTED_TABLES, REFERENCE_TABLES } from "./distributed.ts";
import type { NameTable, ShardStatement } from "./shard-statements.ts";
import { type Node, openNode } from "./worker-node.ts";

/** Age at which shard placements are refreshed in the background, in milliseconds. */
const REFRESH_MS = 2_000;
/** Age from which callers wait for the refresh, in milliseconds. */
const OLDEST_MS = 10_000;

/** The part of all distributed tables for a range of workspace hashes. */
export interface Shard {
  /** Lowest hash of the range. */
  readonly from: number;
  /** `undefined` if the node cannot be queried directly. */
  readonly node: Node | undefined;
  readonly name: NameTable;
  /** Shard id of the first table. Citus uses the metadata lock of this shard for all tables. */
  readonly id: number;
  /** Whether statements may name the shard's tables. Cleared after a failure until the next refresh. */
  isNamed: boolean;
  /** Statements rewritten for the shard's tables, keyed by the original text. */
  readonly statements: Map<string, ShardStatement>;
}

/** `isNamed` is false for shards with several replicas, so that Citus routes their statements. */
const LOAD = `
  select shardminvalue::int as "from", nodename as host, nodeport as port,
    min(shardid) filter (where logicalrelid = to_regclass($1))::int8 as id,
    bool_and(repmodel = 's') as "isNamed",
    json_object_agg(logicalrelid::text, shard_name(logicalrelid, shardid)) as names,
    (select json_object_agg(copied.logicalrelid::text, shard_name(copied.logicalrelid, copied.shardid))
     from pg_dist_shard as copied where logicalrelid = any ($2::regclass[])) as copies
  from pg_dist_shard
  join pg_dist_partition using (logicalrelid)
  join pg_dist_placement as placement using (shardid)
  left join pg_dist_node as node on node.groupid = placement.groupid
    and noderole = 'primary' and isactive and hasmetadata and metadatasynced
  where colocationid = (
    select colocationid from pg_dist_partition where logicalrelid = to_regclass($1))
  group by shardminvalue, nodename, nodeport
  order by 1`;

interface ShardRow extends Pick<Shard, "from" | "isNamed"> {
  readonly host: string | null;
  readonly port: number;
  readonly id: string;
  readonly names: Readonly<Record<string, string>>;
  readonly copies: Readonly<Record<string, string>>;
}

/** The shards of a distributed database with their nodes, cached for some seconds. */
export interface Placements {
  readonly shards: readonly Shard[];
  readonly loadedMs: number;
}

/** Creates a function that returns the cached placements, or loads them. */
export function createPlacements(em: EntityManager): () => Placements | Promise<Placements> {
  const nodes = new Map<string, Node>();
  const statements = new Map<number, Shard["statements"]>();
  let placements: Placements | undefined;
  let loading: Promise<Placements> | undefined;

  async function load(): Promise<Placements> {
    const rows = await runStatement<ShardRow>(em, LOAD, [DISTRIBUTED_TABLES[0], REFERENCE_TABLES]);
    const coordinator = await poolOf(em);
    const shards = rows.map(({ host, port, names, copies, ...row }) => ({
      ...row,
      id: Number(row.id),
      name: (table: string) => names[table] ?? copies[table] ?? table,
      node:
        host === null
          ? undefined
          : nodes.getOrInsertComputed(`${host} ${port}`, () => openNode(coordinator, host, port)),
      statements: statements.getOrInsertComputed(Number(row.id), () => new Map()),
    }));
    return (placements = { shards, loadedMs: performance.now() });
  }

  return () => {
    const ageMs = performance.now() - (placements?.loadedMs ?? -Infinity);
    if (ageMs < REFRESH_MS) return placements!;
    loading ??= onBehalfOfAll(load).finally(() => (loading = undefined));
    loading.catch(() => undefined);
    return ageMs < OLDEST_MS ? placements! : loading;
  };
}

/** Returns the shard of a workspace. */
export function shardOf({ shards }: Placements, workspace: number): Shard | undefined {
  const hash = hashOf(workspace);
  return shards.findLast(({ from }) => from <= hash);
}

/**
 * Returns PostgreSQL's integer hash, which Citus uses to find the shard of a workspace: Bob Jenkins'
 * lookup3 for a single word. See `hash_bytes_uint32` in PostgreSQL's `hashfn.c`.
 *
 * @param workspace at most 2^31 - 1, like all workspace ids
 * @returns a signed 32-bit number
 */
export function hashOf(workspace: number): number {
  const initial = (0x9e3779b9 + 4 + 3923095) | 0;
  let [a, b, c] = [(initial + workspace) | 0, initial, initial];
  c = ((c ^ b) - rotated(b, 14)) | 0;
  a = ((a ^ c) - rotated(c, 11)) | 0;
  b = ((b ^ a) - rotated(a, 25)) | 0;
  c = ((c ^ b) - rotated(b, 16)) | 0;
  a = ((a ^ c) - rotated(c, 4)) | 0;
  b = ((b ^ a) - rotated(a, 14)) | 0;
  return ((c ^ b) - rotated(b, 24)) | 0;
}

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
