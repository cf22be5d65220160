import { hash } from "node:crypto";
import pg from "pg";
import { DISTRIBUTED_TABLES, REFERENCE_TABLES } from "./distributed.ts";

/** Returns the name of a table or of its shard. */
export type NameTable = (table: string) => string;

/** Clauses in which statements name tables. Other references use aliases. */
const SPREAD = DISTRIBUTED_TABLES.join("|");
const COPIED = REFERENCE_TABLES.join("|");
const NAMED = new RegExp(
  `\\b(from|join|into|update)(\\s+)(${SPREAD}|${COPIED})\\b(?!\\.)(\\s+as\\b)?`,
  "g",
);

/**
 * Rewrites a statement for other tables with the same columns. Table names follow `from`, `join`,
 * `into` and `update`, one per keyword, and have aliases with `as`.
 */
export function withTables(sql: string, name: NameTable): string {
  return sql.replace(NAMED, (_, word: string, space: string, table: string, as?: string) => {
    return `${word}${space}${name(table)}${as ?? ` as ${table}`}`;
  });
}

const OF_WORKSPACES = new RegExp(`\\b(from|join|into|update)\\s+(${SPREAD})\\b`);
/**
 * Rows written to a wrong shard would be lost. Therefore a statement must restrict at least one of
 * its tables to the workspace `$1`.
 */
const OF_FIRST_VALUE =
  /\bworkspace_id = \$1(?!\d)|\binto \w+ \(workspace_id\b[^)]*\)\s+(values \(|select )\$1(?!\d)/;

/** Reference tables are written and locked on all nodes by Citus. */
const CHANGES_ALL = new RegExp(
  `\\b(into|update)\\s+(${COPIED})\\b|\\b(from|join)\\s+(${COPIED})\\b[^]*\\bfor (no key |key )?(update|share)\\b`,
);

/** A statement on the tables of a shard, with its prepared name. */
export interface ShardStatement {
  readonly text: string;
  readonly name: string;
  /** Whether it uses workspaces' data. Otherwise it reads reference tables. */
  readonly ofWorkspaces: boolean;
}

/** Maximum number of statements per shard. Every connection to its node can prepare all of them. */
const MAX_STATEMENTS = 100;
/** Cache of texts that are left to Citus. */
const leftToCitus = new Set<string>();
const MAX_LEFT = 1_000;

/**
 * Returns the statement for a shard. `undefined` if it is left to Citus: it names no distributed table, does not
 * restrict the workspace by its first value, writes a reference table, or exceeds the limit.
 */
export function onShard(
  known: Map<string, ShardStatement>,
  sql: string,
  name: NameTable,
): ShardStatement | undefined {
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
 * Fails if one of the shards `$1` is no longer on the node. With `$2`, all stay until the end of the transaction: it
 * takes the lock, in the same mode, that Citus takes before writes and that blocks moving or splitting shards.
 */
export const ASSERT_SHARDS = "select assert_shards($1::bigint[], $2)";

/**
 * Whether a statement failed because of a name: the shard has moved, or the table or function does
 * not exist on the node or is not permitted.
 */
export function isOfNames(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(SHMOV|42|XX)/.test(error.code ?? "");
}
