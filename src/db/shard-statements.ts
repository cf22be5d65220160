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

/** A statement on the tables of a shard, and the name that it is prepared by. */
export interface ShardStatement {
  readonly text: string;
  readonly name: string;
  /** Whether it is about workspaces; else it reads what all nodes have. */
  readonly ofWorkspaces: boolean;
}

/** How many statements of a shard are known: every connection to its node may come to prepare all of them. */
const MAX_STATEMENTS = 60;

/** Undefined for one that names none of the tables, and beyond the bound. */
export function onShard(
  known: Map<string, ShardStatement | undefined>,
  sql: string,
  name: NameTable,
): ShardStatement | undefined {
  const found = known.get(sql);
  if (found !== undefined || known.has(sql) || known.size >= MAX_STATEMENTS) return found;
  const text = withTables(sql, name);
  const made =
    text === sql
      ? undefined
      : { text, name: hash("sha1", text), ofWorkspaces: OF_WORKSPACES.test(sql) };
  known.set(sql, made);
  return made;
}

/**
 * Keeps shards where they are until the end of the transaction, as Citus does for what it writes: whatever moves or splits
 * one waits for this lock. 5 is PostgreSQL's number of `share`.
 */
export const HOLD_SHARDS = "select lock_shard_metadata(5, $1::bigint[])";

/** Fails as a division by zero where one of the shards `$1` is no more in the node's group `$2`. */
export const ASSERT_SHARDS = `
  select 1 / (count(*) = cardinality($1::bigint[]))::int from pg_dist_placement
  where shardid = any ($1::bigint[]) and groupid = $2`;

const [DIVISION_BY_ZERO, UNDEFINED_TABLE] = ["22012", "42P01"];

/** Whether a statement on the tables of a shard failed since the shard is elsewhere now. */
export function hasMoved(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    (error.code === DIVISION_BY_ZERO || error.code === UNDEFINED_TABLE)
  );
}
