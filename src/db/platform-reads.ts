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

/** A read of the data of all workspaces. */
export interface PlatformRead {
  /** With `$1`, `$2`, ... for the values; of distributed tables alone, and of those of one workspace at a time. */
  readonly sql: string;
  readonly values?: readonly unknown[];
}

/**
 * Reads the data of all workspaces, by several statements in one exchange. A distributed database is asked node by node,
 * for all of its shards at once: the coordinator would send a statement for each, to be planned every time. It is
 * asked where it alone reaches a node; what is on a node that it does not reach either is left out.
 *
 * @returns the rows of each read, those of one shard after those of another
 * @throws the error, when nothing can be read
 */
export async function readPlatform<Row>(
  em: EntityManager,
  ...reads: readonly PlatformRead[]
): Promise<Row[][]> {
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
  let found = read.flatMap((each) =>
    each.status === "fulfilled" && each.value !== undefined ? [each.value] : [],
  );
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

/** Named by its text, which changes when shards move, so that the names that are kept for good do not grow in number. */
function ofShards(
  { sql, values = [] }: PlatformRead,
  shards: readonly { readonly name: NameTable }[],
): NamedStatement {
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

/** Something that is due, and since when, in seconds since the epoch. */
export interface DueRow {
  readonly due: number;
}

/** How long reads wait for others, in milliseconds. */
const GATHER_MS = 5;

interface GatheredRead extends PlatformRead {
  readonly resolve: (rows: Promise<DueRow[]>) => void;
}

const gathered = new WeakMap<EntityManager["config"], GatheredRead[]>();

/**
 * Finds what is due, the most urgent first. What is looked for at the same time is looked for together.
 *
 * @param read gives as many rows at most, the most urgent
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
      // One that fails takes those behind it along.
      return (await readPlatform<DueRow>(em, read))[0]!;
    }
  };
  reads.forEach((read, i) => read.resolve(rowsOf(read, i)));
}
