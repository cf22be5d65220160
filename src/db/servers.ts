import type { PoolClient } from "pg";
import type { DatabaseClient } from "./client.ts";
import type { EntityManager } from "./orm.ts";
import { createSemaphore, type Semaphore } from "./semaphore.ts";
import type { NamedStatement } from "./statement-batch.ts";
import { connect, release, runStatement, type Statement } from "./statement.ts";

/**
 * The servers that store the data: a single PostgreSQL server, or a cluster (`citus/`). `serversOf` finds out which.
 * All other code uses this interface and is the same for both.
 */
export interface Servers {
  /** SQL condition on the workspace `$1`. On a single server, PostgreSQL cannot use an index for it. */
  readonly unindexedWorkspace: string;
  /** Returns the node for the transactions of a workspace. It may be outdated by some seconds. */
  nodeOf(workspace: number): Promise<WorkspaceNode>;
  /** Acquires a connection to a node, or to the coordinator if the node is unreachable. The caller must release it. */
  connect(location: DataLocation): Promise<Connection>;
  /** Runs reads across all workspaces. See `readPlatform`. */
  readAll(statements: readonly Statement[]): Promise<unknown[][]>;
  /** Returns the approximate number of rows in tables without reading the tables. */
  countRows(tables: readonly string[]): Promise<TableRows[]>;
  /** Returns the size of the database in bytes. */
  databaseBytes(): Promise<number>;
  /** Returns the size of a table in bytes, or infinity if determining it takes too long. */
  tableBytes(table: string): Promise<number>;
}

/**
 * Node for the transactions of a workspace: a worker node, `undefined` for the only server, or the workspace id for
 * the coordinator, whose transactions contain only that workspace.
 */
export type WorkspaceNode = object | undefined | number;

/** Location of the data that a transaction uses, if known. */
export interface DataLocation {
  readonly node?: WorkspaceNode;
  /** Workspaces whose data is used. On a worker node their tables are accessed as on a single server. */
  readonly workspaces?: readonly number[];
}

export interface Connection {
  readonly client: DatabaseClient & PoolClient;
  /** Whether the server allocates the numbers of sequences. */
  readonly hasSequences: boolean;
  /**
   * Sends a statement together with the tick's other statements and returns its rows. The workspace must be the first
   * value.
   */
  send<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Returns the statement that fails if the data has moved to another node, and that keeps the data there until the end
   * of the transaction if `hold` is true. `undefined` if data does not move or the server finds it on other nodes.
   */
  assertion(hold: boolean): Statement | undefined;
  /** Whether the error may mean that the data has moved. The work can be repeated on a new connection. */
  hasMoved(error: unknown): boolean;
}

export interface TableRows {
  readonly table: string;
  readonly rows: number;
}

/** Returns a connection that sends statements unchanged. */
export function plainConnection(client: Connection["client"], hasSequences: boolean): Connection {
  return {
    client,
    hasSequences,
    send: (sql, values) => client.send(sql, values),
    assertion: () => undefined,
    hasMoved: () => false,
  };
}

/** PostgreSQL's live row count. The count is lost in a crash, but the estimate of the last ANALYZE remains. */
const COUNT_ROWS = `
  select relname as "table", greatest(pg_stat_get_live_tuples(oid), reltuples, 0)::float8 as rows
  from pg_class where oid = any (array(select to_regclass(name)::oid from json_array_elements_text($1) as name))`;

const DATABASE_BYTES = "select pg_database_size(current_database())::float8 as bytes";
const TABLE_BYTES = "select pg_relation_size(to_regclass($1))::float8 as bytes";

/** Creates the interface to a single PostgreSQL server. */
export function createSingleServer(em: EntityManager): Servers {
  const bytesOf = async (sql: string, values: readonly unknown[]) =>
    (await runStatement<{ bytes: number }>(em, sql, values))[0]!.bytes;
  return {
    unindexedWorkspace: "workspace_id + 0 = $1",
    nodeOf: async () => undefined,
    connect: async () => plainConnection(await connect(em), true),
    readAll: async (statements) => sendAll(await connect(em), statements),
    countRows: (tables) => runStatement(em, COUNT_ROWS, [JSON.stringify(tables)]),
    databaseBytes: () => bytesOf(DATABASE_BYTES, []),
    tableBytes: (table) => bytesOf(TABLE_BYTES, [table]),
  };
}

/** Sends statements together, returns the rows of each, and releases the connection. */
export async function sendAll(
  client: Connection["client"],
  statements: readonly NamedStatement[],
): Promise<unknown[][]> {
  try {
    return await Promise.all(client.sendTogether(statements));
  } finally {
    release(client);
  }
}

/** Creates a semaphore for each node, and one for the server that the ORM connects to. */
export function createSemaphores(permits: number): (node: WorkspaceNode) => Semaphore {
  const ofNodes = new WeakMap<object, Semaphore>();
  const ofOrm = createSemaphore(permits);
  return (node) =>
    typeof node === "object" ? ofNodes.getOrInsertComputed(node, () => createSemaphore(permits)) : ofOrm;
}
