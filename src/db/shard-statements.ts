import { hash } from "node:crypto";
import pg from "pg";
import { DISTRIBUTED_TABLES, REFERENCE_TABLES } from "./distributed.ts";

/** Returns the name of a table, or of the table's shard. */
export type NameTable = (table: string) => string;

/** Tables whose names are rewritten after `from`, `join`, `into` and `update`. Other references use aliases. */
const SPREAD = DISTRIBUTED_TABLES.join("|");
const COPIED = REFERENCE_TABLES.join("|");
const NAMED = new RegExp(`\\b(from|join|into|update)(\\s+)(${SPREAD}|${COPIED})\\b(?!\\.)(\\s+as\\b)?`, "g");

/**
 * Rewrites a statement for other tables with the same columns. Each `from`, `join`,
 * `into` and `update` must precede exactly one table name, and aliases must use `as`.
 */
export function withTables(sql: string, name: NameTable): string {
  return sql.replace(NAMED, (_, word: string, space: string, table: string, as?: string) => {
    return `${word}${space}${name(table)}${as ?? ` as ${table}`}`;
  });
}

const OF_WORKSPACES = new RegExp(`\\b(from|join|into|update)\\s+(${SPREAD})\\b`);
/**
 * Matches a condition or insert with the workspace as `$1`. A statement must restrict at least one of
 * its tables to it, because rows written to a wrong shard would be lost.
 */
const OF_FIRST_VALUE = /\bworkspace_id = \$1(?!\d)|\binto \w+ \(workspace_id\b[^)]*\)\s+(values \(|select )\$1(?!\d)/;

/** Matches statements that write or lock reference tables, which Citus does on all nodes. */
const CHANGES_ALL = new RegExp(
  `\\b(into|update)\\s+(${COPIED})\\b|\\b(from|join)\\s+(${COPIED})\\b[^]*\\bfor (no key |key )?(update|share)\\b`,
);

/** A statement on the tables of a shard, with the name of its prepared statement. */
export interface ShardStatement {
  readonly text: string;
  readonly name: string;
  /** Whether the statement uses workspace data. Otherwise it reads reference tables. */
  readonly ofWorkspaces: boolean;
}

/** Maximum number of statements per shard. Every connection to the node can prepare all of them. */
const MAX_STATEMENTS = 100;
/** Cache of statement texts that Citus routes. */
const leftToCitus = new Set<string>();
const MAX_LEFT = 1_000;

/**
 * Returns the statement for a shard. Returns `undefined` if Citus must route the statement: it names no distributed
 * table, does not restrict the workspace by its first value, writes a reference table, or exceeds the limit.
 */
export function onShard(known: Map<string, ShardStatement>, sql: string, name: NameTable): ShardStatement | undefined {
  const found = known.get(sql);
  if (found !== undefined || leftToCitus.has(sql) || known.size >= MAX_STATEMENTS) return found;
  const text = withTables(sql, name);
  const ofWorkspaces = OF_WORKSPACES.test(sql);
  if (text === sql || (ofWorkspaces && !OF_FIRST_VALUE.test(sql)) || CHANGES_ALL.test(sql)) {
    if (leftToCitus.size < MAX_LEFT) leftToCitus.add(sql);
    return undefined;
  }
  const made = { text, name: hash("sha1", text), ofWorkspaces };
  known.set(sql, made);
  return made;
}

/**
 * Fails if one of the shards `$1` is no longer on the node. If `$2` is true, also locks all of them
 * there until the end of the transaction. The lock has the mode that Citus uses before writes, and
 * blocks moving and splitting shards.
 */
export const ASSERT_SHARDS = "select assert_shards($1::bigint[], $2)";

/**
 * Whether a statement failed because of a shard name: the shard has moved, or the table or function
 * does not exist on the node or is not permitted.
 */
export function isOfNames(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(SHMOV|42|XX)/.test(error.code ?? "");
}
