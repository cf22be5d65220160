import type { SqlMigration } from "../migration-list.ts";
import { distributeTableSql, SET_SEQUENTIAL } from "./distributed.ts";

/** Adapts a migration to a distributed database. */
export function forDistributed({ statements, ...migration }: SqlMigration): SqlMigration {
  return { ...migration, statements: [SET_SEQUENTIAL, ...statements.flatMap(toDistributed)] };
}

/**
 * Adapts a migration statement to a distributed database. New tables with workspace data are
 * distributed before other tables refer to them. Foreign keys lose `on update cascade`, because ids
 * never change and Citus does not support it.
 */
function toDistributed(sql: string): string[] {
  const created = /^\s*create table (?:if not exists )?"?(\w+)"?/i.exec(sql)?.[1];
  const distribute = created === undefined ? undefined : distributeTableSql(created);
  const statement = sql.replace(/ on update cascade/gi, "");
  return distribute === undefined ? [statement] : [statement, distribute];
}
