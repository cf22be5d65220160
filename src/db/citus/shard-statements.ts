import { hash } from "node:crypto";
import pg from "pg";
import type { NamedStatement, Statement } from "../statement-batch.ts";
import { DISTRIBUTED_TABLES, REFERENCE_TABLES } from "./distributed.ts";

/** Returns the name of a table, or of the table's shard. */
export type NameTable = (table: string) => string;

const DISTRIBUTED = DISTRIBUTED_TABLES.join("|");
const REPLICATED = REFERENCE_TABLES.join("|");
/** Matches the tables that a statement accesses. All other parts of the statement refer to tables by alias. */
const ACCESSED_TABLES = new RegExp(
  `\\b(from|join|into|update)(\\s+)(${DISTRIBUTED}|${REPLICATED})\\b(?!\\.)(\\s+as\\b)?`,
  "g",
);

/**
 * Rewrites a statement for other tables with the same columns. Each `from`, `join`,
 * `into` and `update` must precede exactly one table name, and aliases must use `as`.
 *
 * The tests check every rewritten statement with PostgreSQL's parser.
 */
export function withTables(sql: string, name: NameTable): string {
  return sql.replace(ACCESSED_TABLES, (_, word: string, space: string, table: string, as?: string) => {
    return `${word}${space}${name(table)}${as ?? ` as ${table}`}`;
  });
}

const DISTRIBUTED_TABLE = new RegExp(`\\b(from|join|into|update)\\s+(${DISTRIBUTED})\\b(?!\\.)`, "g");
/**
 * Matches a condition or an insert with the workspace as `$1`. A statement must have one for each access to a
 * distributed table, because rows written to a wrong shard would be lost.
 */
const WORKSPACE_CONDITION = new RegExp(
  `\\bworkspace_id = \\$1(?!\\d)|\\binto \\w+\\s+\\(workspace_id\\b[^)]*\\)\\s+(values \\(|select )(\\$1(?!\\d)|(${DISTRIBUTED})\\.workspace_id\\b)`,
  "g",
);

/** Matches statements that write or lock reference tables. Citus executes them on all nodes. */
const CHANGES_REFERENCE_TABLE = new RegExp(
  `\\b(into|update)\\s+(${REPLICATED})\\b|\\b(from|join)\\s+(${REPLICATED})\\b[^]*\\bfor (no key |key )?(update|share)\\b`,
);

/** A statement on the tables of a shard, with the name of its prepared statement. */
export interface ShardStatement {
  readonly text: string;
  readonly name: string;
  /** Whether the statement uses workspace data. If false, it only reads reference tables. */
  readonly ofWorkspaces: boolean;
}

/** Maximum number of cached statements per shard, because every connection to the node may prepare all of them. */
const MAX_STATEMENTS = 100;
/** Texts of statements that Citus must route, cached so that they are not parsed again. */
const routedByCitus = new Set<string>();
const MAX_ROUTED = 1_000;

/**
 * Returns the statement for a shard. Returns `undefined` if Citus must route the statement: it names no distributed
 * table, does not restrict every table to the workspace in `$1`, writes a reference table, or exceeds the limit.
 */
export function onShard(known: Map<string, ShardStatement>, sql: string, name: NameTable): ShardStatement | undefined {
  const found = known.get(sql);
  if (found !== undefined || routedByCitus.has(sql) || known.size >= MAX_STATEMENTS) return found;
  const text = withTables(sql, name);
  const accesses = countOf(DISTRIBUTED_TABLE, sql);
  if (text === sql || countOf(WORKSPACE_CONDITION, sql) < accesses || CHANGES_REFERENCE_TABLE.test(sql)) {
    if (routedByCitus.size < MAX_ROUTED) routedByCitus.add(sql);
    return undefined;
  }
  const made = { text, name: hash("sha1", text), ofWorkspaces: accesses > 0 };
  known.set(sql, made);
  return made;
}

function countOf(pattern: RegExp, sql: string): number {
  return sql.match(pattern)?.length ?? 0;
}

/**
 * Returns the union of a read over several shards, as a statement named by a hash of its text. The text changes only
 * when shards move, so the number of prepared statements stays bounded.
 */
export function onShards([sql, values]: Statement, shards: readonly { readonly name: NameTable }[]): NamedStatement {
  const text = shards.map(({ name }) => `(${withTables(sql, name)})`).join("\nunion all\n");
  return [text, values, hash("sha1", text)];
}

/**
 * Fails if a shard in `$1` is no longer on the node. If `$2` is true, also locks the shards until the end of the
 * transaction, in the mode that Citus uses for writes. The lock prevents moving and splitting them.
 */
export const ASSERT_SHARDS = "select assert_shards($1::bigint[], $2)";

/**
 * Whether a statement failed because of a shard name: the shard has moved, or the table or function
 * does not exist on the node or is not permitted.
 */
export function isOfNames(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(SHMOV|42|XX)/.test(error.code ?? "");
}
