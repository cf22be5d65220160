import { onBehalfOfAll } from "./connection-shares.ts";
import type { EntityManager } from "./orm.ts";
import { serversOf } from "./servers-of.ts";
import type { Statement } from "./statement.ts";

/** A read across all workspaces. */
export interface PlatformRead {
  /** SQL with `$1`, `$2`, ... for its values. It may use only distributed tables and joins within one workspace. */
  readonly sql: string;
  readonly values?: readonly unknown[];
}

/**
 * Reads data of all workspaces with several statements in one round trip. On a distributed database each node runs
 * them on its part of the data, and data on unreachable nodes is left out.
 *
 * @returns the rows of each read, concatenated over the nodes
 * @throws the error if no data can be read
 */
export async function readPlatform<Row>(em: EntityManager, ...reads: readonly PlatformRead[]): Promise<Row[][]> {
  const statements = reads.map(({ sql, values = [] }): Statement => [sql, values]);
  for (const [query, params] of statements) {
    em.config.getLogger().logQuery({ level: "info", query, params });
  }
  return (await (await serversOf(em)).readAll(statements)) as Row[][];
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
      // A failed read also fails the later reads of the batch, so each read is repeated separately.
      return (await readPlatform<DueRow>(em, read))[0]!;
    }
  };
  reads.forEach((read, i) => read.resolve(rowsOf(read, i)));
}
