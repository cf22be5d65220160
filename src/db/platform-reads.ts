import { hash } from "node:crypto";
import type { PoolClient } from "pg";
import type { DatabaseClient } from "./client.ts";
import { onBehalfOfAll } from "./connection-shares.ts";
import { isDistributed } from "./distributed.ts";
import { shardsByNode, tryNode } from "./nodes.ts";
import type { EntityManager } from "./orm.ts";
import { type NameTable, withTables } from "./shard-statements.ts";
import { connect, release } from "./statement.ts";
import type { NamedStatement, Statement } from "./statement-batch.ts";

/** A read across all workspaces. */
export interface PlatformRead {
  /** SQL with `$1`, `$2`, ... for its values. It may use only distributed tables and joins within one workspace. */
  readonly sql: string;
  readonly values?: readonly unknown[];
}

/**
 * Reads data of all workspaces with several statements in one round trip. On a distributed database
 * each node is queried directly for all of its shards, because the coordinator would plan one statement
 * per shard on every call. Nodes that this process cannot reach are queried through the coordinator.
 * Data on nodes that the coordinator cannot reach either is left out.
 *
 * @returns the rows of each read, concatenated by shard
 * @throws the error if no data can be read
 */
export async function readPlatform<Row>(em: EntityManager, ...reads: readonly PlatformRead[]): Promise<Row[][]> {
  const statements = reads.map(asItIs);
  for (const [query, params] of statements) {
    em.config.getLogger().logQuery({ level: "info", query, params });
  }
  const readHere = async () => readBy(await connect(em), statements);
  if (!(await isDistributed(em))) return (await readHere()) as Row[][];
  const nodes = await shardsByNode(em);
  const read = await Promise.allSettled(
    [...nodes].map(async ([node, shards]) => {
      const client = node && (await tryNode(node));
      const own = reads.map((it) => ofShards(it, shards));
      return client && readBy(client, own);
    }),
  );
  let found = read.flatMap((each) => (each.status === "fulfilled" && each.value !== undefined ? [each.value] : []));
  if (found.length < nodes.size) {
    try {
      found = [await readHere()];
    } catch (error) {
      if (found.length === 0) throw error;
    }
  }
  return reads.map((_, i) => found.flatMap((rows) => rows[i] as Row[]));
}

const asItIs = ({ sql, values = [] }: PlatformRead): Statement => [sql, values];

/**
 * Returns the statement over several shards, named by a hash of its text. The text changes only when
 * shards move, so the number of prepared statements stays bounded.
 */
function ofShards({ sql, values = [] }: PlatformRead, shards: readonly { readonly name: NameTable }[]): NamedStatement {
  const text = shards.map(({ name }) => `(${withTables(sql, name)})`).join("\nunion all\n");
  return [text, values, hash("sha1", text)];
}

async function readBy(
  client: DatabaseClient & PoolClient,
  statements: readonly NamedStatement[],
): Promise<unknown[][]> {
  try {
    return await Promise.all(client.sendTogether(statements));
  } finally {
    release(client);
  }
}

/** A due item with its due time, in seconds since the epoch. */
export interface DueRow {
  readonly due: number;
}

/** Time to gather concurrent reads into one round trip, in milliseconds. */
const GATHER_MS = 5;

interface GatheredRead extends PlatformRead {
  readonly resolve: (rows: Promise<DueRow[]>) => void;
}

const gathered = new WeakMap<EntityManager["config"], GatheredRead[]>();

/**
 * Finds due items, the most urgent first. Concurrent calls share a round trip.
 *
 * @param read returns the most urgent items, at most `limit`
 */
export async function findDue<Row extends DueRow>(
  em: EntityManager,
  read: PlatformRead,
  limit: number,
): Promise<Row[]> {
  const { promise, resolve } = Promise.withResolvers<DueRow[]>();
  const waiting = gathered.getOrInsertComputed(em.config, () => []);
  if (waiting.push({ ...read, resolve }) === 1) {
    onBehalfOfAll(() => setTimeout(() => readGathered(em, waiting.splice(0)), GATHER_MS));
  }
  const rows = (await promise) as Row[];
  return rows.toSorted((a, b) => a.due - b.due).slice(0, limit);
}

function readGathered(em: EntityManager, reads: readonly GatheredRead[]): void {
  const found = readPlatform<DueRow>(em, ...reads);
  const rowsOf = async (read: GatheredRead, i: number) => {
    try {
      return (await found)[i]!;
    } catch (error) {
      if (reads.length === 1) throw error;
      // A failed read fails all later reads of the batch, so each is repeated separately.
      return (await readPlatform<DueRow>(em, read))[0]!;
    }
  };
  reads.forEach((read, i) => read.resolve(rowsOf(read, i)));
}
