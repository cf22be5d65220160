import pg, { type Pool, type PoolClient } from "pg";
import { DatabaseClient } from "./client.ts";
import { onBehalfOfAll } from "./connection-shares.ts";
import { DISTRIBUTED_TABLES, isDistributed, REFERENCE_TABLES } from "./distributed.ts";
import type { EntityManager } from "./orm.ts";
import { createSemaphore, type Semaphore } from "./semaphore.ts";
import type { NameTable, ShardStatement } from "./shard-statements.ts";
import { connect, poolOf, runStatement } from "./statement.ts";

/**
 * A worker node of a distributed database. It plans statements on the workspaces whose data it has by itself, so
 * that a transaction of theirs is a conversation with one server. Statements on others it sends on, which takes
 * longer and is as right.
 */
export interface Node {
  readonly pool: Pool;
  /** On the clock of `performance.now()`: until then, the coordinator is to be asked instead. */
  avoidedUntilMs: number;
}

/** How old what is known of where data is becomes before it is looked up again, in milliseconds. */
const REFRESH_MS = 2_000;
/** How old it becomes before it is waited for, in milliseconds. */
const OLDEST_MS = 10_000;
/** How long a node that took no connection is left alone, in milliseconds. */
const AVOID_MS = 5_000;

/** A part of all workspaces, by their hashes, with its part of each table. */
export interface Shard {
  /** The least hash. */
  readonly from: number;
  /** Undefined where it takes no statements but the coordinator's. */
  readonly node: Node | undefined;
  readonly name: NameTable;
  /** That of its part of the first table, under which Citus locks them all. */
  readonly id: number;
  /** Whether statements may name its tables themselves; once one has failed of it, not before placements are looked up again. */
  isNamed: boolean;
  /** Statements on its own tables, by what they are on those of all. */
  readonly statements: Map<string, ShardStatement>;
}

interface Placements {
  /** In the order of their hashes. */
  readonly shards: readonly Shard[];
  readonly loadedMs: number;
}

interface Known {
  placements?: Placements;
  loading?: Promise<Placements> | undefined;
  readonly nodes: Map<string, Node>;
  /** Those of each shard, by its id. */
  readonly statements: Map<number, Shard["statements"]>;
}

/** By the configuration that an ORM and its forks share. */
const known = new WeakMap<EntityManager["config"], Known>();

/** What one transaction can be about: the workspaces of a node, those of the only server, or one alone, by the coordinator. */
export type Place = Node | undefined | number;

/**
 * Where a workspace's data is: at a node, as the coordinator last said, so that a shard may have moved in the last
 * seconds; undefined where there is one server. The workspace itself where its node takes no connection.
 */
export async function placeOf(em: EntityManager, workspace: number): Promise<Place> {
  if (!(await isDistributed(em))) return undefined;
  const node = shardOf(await placementsOf(em), workspace)?.node;
  return node === undefined || node.avoidedUntilMs > performance.now() ? workspace : node;
}

function shardOf({ shards }: Placements, workspace: number): Shard | undefined {
  const hash = hashOf(workspace);
  return shards.findLast(({ from }) => from <= hash);
}

/** The nodes of a distributed database, each with its shards. */
export async function shardsByNode(
  em: EntityManager,
): Promise<Map<Node | undefined, readonly Shard[]>> {
  return Map.groupBy((await placementsOf(em)).shards, ({ node }) => node);
}

function placementsOf(em: EntityManager): Placements | Promise<Placements> {
  const of = known.getOrInsertComputed(em.config, () => ({
    nodes: new Map<string, Node>(),
    statements: new Map<number, Shard["statements"]>(),
  }));
  const { placements } = of;
  const ageMs = performance.now() - (placements?.loadedMs ?? -Infinity);
  if (ageMs < REFRESH_MS) return placements!;
  of.loading ??= onBehalfOfAll(() => loadPlacements(em, of)).finally(
    () => (of.loading = undefined),
  );
  of.loading.catch(() => undefined);
  return ageMs < OLDEST_MS ? placements! : of.loading;
}

/** A shard that is on several nodes is written by Citus alone. */
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

async function loadPlacements(em: EntityManager, of: Known): Promise<Placements> {
  const rows = await runStatement<ShardRow>(em, LOAD, [DISTRIBUTED_TABLES[0], REFERENCE_TABLES]);
  const coordinator = await poolOf(em);
  const nodeAt = (host: string, port: number) =>
    of.nodes.getOrInsertComputed(`${host} ${port}`, () => openNode(coordinator, host, port));
  const shards = rows.map(({ host, port, names, copies, ...row }) => ({
    ...row,
    id: Number(row.id),
    name: (table: string) => names[table] ?? copies[table] ?? table,
    node: host === null ? undefined : nodeAt(host, port),
    statements: of.statements.getOrInsertComputed(Number(row.id), () => new Map()),
  }));
  return (of.placements = { shards, loadedMs: performance.now() });
}

/** A pool of connections as those to the coordinator, which end with those. */
function openNode(coordinator: Pool, host: string, port: number): Node {
  const { connectionString, ...options } = coordinator.options;
  const pool = new pg.Pool({
    ...options,
    connectionString: connectionString!.replace(
      SERVER,
      `$1${host.includes(":") ? `[${host}]` : host}:${port}`,
    ),
    Client: DatabaseClient,
  });
  // The next connection tells of the loss of those that nobody uses.
  pool.on("error", () => undefined);
  const end = coordinator.end.bind(coordinator) as () => Promise<void>;
  coordinator.end = (async () => {
    await Promise.all([pool.end(), end()]);
  }) as Pool["end"];
  return { pool, avoidedUntilMs: 0 };
}

/** Up to and with the host and port of an address. */
const SERVER = /^([^:]+:\/\/(?:[^/?#]*@)?)[^/?#]*/;

/** Where all data is that work is about, as far as it is known. */
export interface Whereabouts {
  readonly place?: Place;
  /** Those whose data it is: at a node, it is then read and written as on one server. */
  readonly workspaces?: readonly number[];
}

/** A connection, and the shards whose tables statements may name there, by the workspaces of which they are. */
export interface Connection {
  readonly client: DatabaseClient & PoolClient;
  readonly shards: ReadonlyMap<number, Shard>;
}

const NO_SHARDS: Connection["shards"] = new Map();

/**
 * Takes a connection to a node, or to the coordinator where the node takes none: either it is away, and the
 * coordinator will say so, or it cannot be reached from here.
 */
export async function connectToNode(
  em: EntityManager,
  { place, workspaces = [] }: Whereabouts,
): Promise<Connection> {
  if (typeof place === "object") {
    const shards = await namedShards(em, place, workspaces);
    const client = await tryNode(place);
    if (client !== undefined) return { client, shards };
  }
  return { client: await connect(em), shards: NO_SHARDS };
}

async function namedShards(
  em: EntityManager,
  node: Node,
  workspaces: readonly number[],
): Promise<Connection["shards"]> {
  if (workspaces.length === 0) return NO_SHARDS;
  const placements = await placementsOf(em);
  const shards = new Map<number, Shard>();
  for (const workspace of workspaces) {
    const shard = shardOf(placements, workspace);
    if (shard?.node === node && shard.isNamed) shards.set(workspace, shard);
  }
  return shards;
}

/**
 * Takes a connection to a node; undefined where it takes none, and then for a while. After that one caller tries again,
 * and the others go on without.
 *
 * @throws Error when all of its connections stay in use
 */
export async function tryNode(node: Node): Promise<(DatabaseClient & PoolClient) | undefined> {
  const nowMs = performance.now();
  if (node.avoidedUntilMs > nowMs) return undefined;
  if (node.avoidedUntilMs > 0) node.avoidedUntilMs = nowMs + AVOID_MS;
  try {
    const client = await node.pool.connect();
    node.avoidedUntilMs = 0;
    return client as DatabaseClient & PoolClient;
  } catch (error) {
    if (node.pool.totalCount >= node.pool.options.max) throw error;
    node.avoidedUntilMs = performance.now() + AVOID_MS;
    return undefined;
  }
}

/** Builds semaphores, one for each node, and one for all that is asked of the server that the ORM connects to. */
export function createPermits(em: EntityManager, permits: number): (place: Place) => Semaphore {
  const ofServers = new WeakMap<Node | EntityManager, Semaphore>();
  return (place) => {
    const server = typeof place === "object" ? place : em;
    return ofServers.getOrInsertComputed(server, () => createSemaphore(permits));
  };
}

/**
 * PostgreSQL's hash of a number, by which Citus finds the shard of a workspace: of Bob Jenkins' lookup3, the steps
 * for a single word. See `hash_bytes_uint32` in PostgreSQL's `hashfn.c`.
 *
 * @param workspace at most 2^31 - 1, as ids of workspaces are
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
