import pg, { type Pool, type PoolClient } from "pg";
import { DatabaseClient } from "./client.ts";
import { onBehalfOfAll } from "./connection-shares.ts";
import { DISTRIBUTED_TABLES, isDistributed, REFERENCE_TABLES } from "./distributed.ts";
import type { EntityManager } from "./orm.ts";
import { createSemaphore, type Semaphore } from "./semaphore.ts";
import type { NameTable, ShardStatement } from "./shard-statements.ts";
import { connect, poolOf, runStatement } from "./statement.ts";

/**
 * A worker node of a distributed database. It plans statements on its own workspaces without the coordinator, so
 * that a transaction uses one server. Statements on other workspaces are forwarded, which is slower but correct.
 */
export interface Node {
  readonly pool: Pool;
  /** Time until which the coordinator is used instead, on the clock of `performance.now()`. */
  avoidedUntilMs: number;
}

/** Age at which shard placements are refreshed in the background, in milliseconds. */
const REFRESH_MS = 2_000;
/** Age at which callers wait for the refresh, in milliseconds. */
const OLDEST_MS = 10_000;
/** Time for which a node is avoided after a failed connection, in milliseconds. */
const AVOID_MS = 5_000;

/** A range of workspaces by hash, with its part of each distributed table. */
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
  /** Statements on the shard's tables, keyed by their text on the distributed tables. */
  readonly statements: Map<string, ShardStatement>;
}

interface Placements {
  readonly shards: readonly Shard[];
  readonly loadedMs: number;
}

interface Known {
  placements?: Placements;
  loading?: Promise<Placements> | undefined;
  readonly nodes: Map<string, Node>;
  readonly statements: Map<number, Shard["statements"]>;
}

/** Placements by ORM configuration, which an ORM and its forks share. */
const known = new WeakMap<EntityManager["config"], Known>();

/**
 * Node for the transactions of a workspace: a worker node, `undefined` for the only server, or the
 * workspace id for the coordinator, whose transactions contain only that workspace.
 */
export type WorkspaceNode = Node | undefined | number;

/**
 * Returns the node of a workspace, `undefined` on a single server, or the workspace id if the node is
 * unreachable. Placements are cached, so a shard may have moved within the last seconds.
 */
export async function nodeOf(em: EntityManager, workspace: number): Promise<WorkspaceNode> {
  if (!(await isDistributed(em))) return undefined;
  const node = shardOf(await placementsOf(em), workspace)?.node;
  return node === undefined || node.avoidedUntilMs > performance.now() ? workspace : node;
}

function shardOf({ shards }: Placements, workspace: number): Shard | undefined {
  const hash = hashOf(workspace);
  return shards.findLast(({ from }) => from <= hash);
}

/** Returns the nodes of a distributed database with their shards. */
export async function shardsByNode(em: EntityManager): Promise<Map<Node | undefined, readonly Shard[]>> {
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
  of.loading ??= onBehalfOfAll(() => loadPlacements(em, of)).finally(() => (of.loading = undefined));
  of.loading.catch(() => undefined);
  return ageMs < OLDEST_MS ? placements! : of.loading;
}

/** Shards with several replicas are excluded, so Citus routes their statements. */
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

/**
 * Opens a connection pool to a node with the coordinator's settings. It closes together with the coordinator's pool.
 */
function openNode(coordinator: Omit<Pool, "query">, host: string, port: number): Node {
  const { connectionString, ...options } = coordinator.options;
  const pool = new pg.Pool({
    ...options,
    connectionString: connectionString!.replace(SERVER, `$1${host.includes(":") ? `[${host}]` : host}:${port}`),
    Client: DatabaseClient,
  });
  // The next connection attempt reports the error.
  pool.on("error", () => undefined);
  const end = coordinator.end.bind(coordinator) as () => Promise<void>;
  coordinator.end = (async () => {
    await Promise.all([pool.end(), end()]);
  }) as Pool["end"];
  return { pool, avoidedUntilMs: 0 };
}

/** Matches the start of a URL, up to and including host and port. */
const SERVER = /^([^:]+:\/\/(?:[^/?#]*@)?)[^/?#]*/;

/** Known location of the data that the work uses. */
export interface DataLocation {
  readonly node?: WorkspaceNode;
  /** Workspaces whose data is used. On a worker node their shards are accessed as on a single server. */
  readonly workspaces?: readonly number[];
}

/** A connection with the shards, by workspace, whose tables its statements may name. */
export interface Connection {
  readonly client: DatabaseClient & PoolClient;
  readonly shards: ReadonlyMap<number, Shard>;
}

const NO_SHARDS: Connection["shards"] = new Map();

/** Acquires a connection to a node, or to the coordinator if the node is unreachable. */
export async function connectToNode(em: EntityManager, { node, workspaces = [] }: DataLocation): Promise<Connection> {
  if (typeof node === "object") {
    const shards = await namedShards(em, node, workspaces);
    const client = await tryNode(node);
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
 * Acquires a connection to a node. After a failure, returns `undefined` for `AVOID_MS`. Then one caller
 * retries while other callers still get `undefined`.
 *
 * @throws Error if all connections of the pool stay in use
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

/** Creates a semaphore for each node, and one for the server that the ORM connects to. */
export function createSemaphores(em: EntityManager, permits: number): (node: WorkspaceNode) => Semaphore {
  const ofServers = new WeakMap<Node | EntityManager, Semaphore>();
  return (node) => {
    const server = typeof node === "object" ? node : em;
    return ofServers.getOrInsertComputed(server, () => createSemaphore(permits));
  };
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
