import { hash } from "node:crypto";
import pg from "pg";
import { DISTRIBUTED_TABLES, REFERENCE_TABLES } from "./distributed.ts";

/** Gives the name of a table where a statement runs: its own, or that of one of its shards. */
export type NameTable = (table: string) => string;

/** Where statements name tables, which the rest of a statement may call by another name. */
const TABLES = [...DISTRIBUTED_TABLES, ...REFERENCE_TABLES].join("|");
const NAMED = new RegExp(`\\b(from|join|into|update)(\\s+)(${TABLES})\\b(?!\\.)(\\s+as\\b)?`, "g");

/**
 * A statement as it is on other tables of the same columns. Tables stand behind `from`, `join`, `into` and `update`, each
 * with its own such word, and what else they are called behind `as`.
 */
export function withTables(sql: string, name: NameTable): string {
  return sql.replace(NAMED, (_, word: string, space: string, table: string, as?: string) => {
    return `${word}${space}${name(table)}${as ?? ` as ${table}`}`;
  });
}

const OF_WORKSPACES = new RegExp(
  `\\b(from|join|into|update)\\s+(${DISTRIBUTED_TABLES.join("|")})\\b`,
);
/** On the tables of a wrong shard, rows would be lost: a statement says that `$1` is the workspace. */
const OF_FIRST_VALUE =
  /\bworkspace_id = \$1(?!\d)|\binto \w+ \(workspace_id\b[^)]*\)\s+(values \(|select )\$1(?!\d)/;

/** A statement on the tables of a shard, and the name that it is prepared by. */
export interface ShardStatement {
  readonly text: string;
  readonly name: string;
  /** Whether it is about workspaces; else it reads what all nodes have. */
  readonly ofWorkspaces: boolean;
}

/** How many statements of a shard are known: every connection to its node may come to prepare all of them. */
const MAX_STATEMENTS = 60;

/** Undefined for one that names none of the tables, or not the workspace as its first value, and beyond the bound. */
export function onShard(
  known: Map<string, ShardStatement | undefined>,
  sql: string,
  name: NameTable,
): ShardStatement | undefined {
  const found = known.get(sql);
  if (found !== undefined || known.has(sql) || known.size >= MAX_STATEMENTS) return found;
  const text = withTables(sql, name);
  const ofWorkspaces = OF_WORKSPACES.test(sql);
  const isKnown = text !== sql && (!ofWorkspaces || OF_FIRST_VALUE.test(sql));
  const made = isKnown ? { text, name: hash("sha1", text), ofWorkspaces } : undefined;
  known.set(sql, made);
  return made;
}

/**
 * Fails where one of the shards `$1` is no more in the node's group `$2`. With `$3`, all stay until the end of the
 * transaction: Citus takes the same lock, in the same mode, before it writes, and whatever moves or splits shards waits for it.
 */
export const ASSERT_SHARDS = "select assert_shards($1::bigint[], $2, $3)";

/** What that fails with, and what a statement does on a shard, or a node, that has none of its tables or functions. */
const MOVED: readonly unknown[] = ["SHMOV", "42P01", "42883"];

/** Whether a statement on the tables of a shard failed since the shard is elsewhere now. */
export function hasMoved(error: unknown): boolean {
  return error instanceof pg.DatabaseError && MOVED.includes(error.code);
}
