import { hash } from "node:crypto";
import pg from "pg";
import { DISTRIBUTED_TABLES, REFERENCE_TABLES } from "./distributed.ts";

/** Gives the name of a table where a statement runs: its own, or that of one of its shards. */
export type NameTable = (table: string) => string;

/** Where statements name tables, which the rest of a statement may call by another name. */
const SPREAD = DISTRIBUTED_TABLES.join("|");
const COPIED = REFERENCE_TABLES.join("|");
const NAMED = new RegExp(
  `\\b(from|join|into|update)(\\s+)(${SPREAD}|${COPIED})\\b(?!\\.)(\\s+as\\b)?`,
  "g",
);

/**
 * A statement as it is on other tables of the same columns. Tables stand behind `from`, `join`, `into` and `update`, each
 * with its own such word, and what else they are called behind `as`.
 */
export function withTables(sql: string, name: NameTable): string {
  return sql.replace(NAMED, (_, word: string, space: string, table: string, as?: string) => {
    return `${word}${space}${name(table)}${as ?? ` as ${table}`}`;
  });
}

const OF_WORKSPACES = new RegExp(`\\b(from|join|into|update)\\s+(${SPREAD})\\b`);
/** On the tables of a wrong shard, rows would be lost: a statement says, of one of its tables at least, that `$1` is the workspace. */
const OF_FIRST_VALUE =
  /\bworkspace_id = \$1(?!\d)|\binto \w+ \(workspace_id\b[^)]*\)\s+(values \(|select )\$1(?!\d)/;

/** What all nodes have is written and locked on all of them, by Citus. */
const CHANGES_ALL = new RegExp(
  `\\b(into|update)\\s+(${COPIED})\\b|\\b(from|join)\\s+(${COPIED})\\b[^]*\\bfor (no key |key )?(update|share)\\b`,
);

/** A statement on the tables of a shard, and the name that it is prepared by. */
export interface ShardStatement {
  readonly text: string;
  readonly name: string;
  /** Whether it is about workspaces; else it reads what all nodes have. */
  readonly ofWorkspaces: boolean;
}

/** How many statements of a shard are known: every connection to its node may come to prepare all of them. */
const MAX_STATEMENTS = 100;
/** Texts that are left to Citus, so that they are looked at once. */
const leftToCitus = new Set<string>();
const MAX_LEFT = 1_000;

/**
 * Undefined for one that is left to Citus: that names none of the tables, or not the workspace as its first value, or
 * changes what all nodes have; and beyond the bound.
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
 * Fails where one of the shards `$1` is no more at the node. With `$2`, all stay until the end of the transaction: Citus
 * takes the same lock, in the same mode, before it writes, and whatever moves or splits shards waits for it.
 */
export const ASSERT_SHARDS = "select assert_shards($1::bigint[], $2)";

/**
 * Whether a statement failed because of what it names: the shard has moved, or the node has no such table or
 * function, or does not let this role use it.
 */
export function isOfNames(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(SHMOV|42|XX)/.test(error.code ?? "");
}
