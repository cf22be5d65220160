import type { Constructor } from "@mikro-orm/core";
import type { Migration } from "@mikro-orm/migrations";
import { distributeTableSql, SET_SEQUENTIAL } from "./distributed.ts";

/** A migration as a distributed database takes it. */
export function forDistributed(migration: Constructor<Whole>): Constructor<Whole> {
  return class extends migration {
    override getQueries(): Query[] {
      return [SET_SEQUENTIAL, ...super.getQueries().flatMap(toDistributed)];
    }
  };
}

/** A migration that says what it does; the class itself leaves that open. */
interface Whole extends Migration {
  up(): void | Promise<void>;
}

type Query = ReturnType<Migration["getQueries"]>[number];

/**
 * What a statement of a migration becomes: a new table of workspaces' data is distributed before
 * anything refers to it. Ids are never updated, so that foreign keys lose `on update cascade`, which
 * Citus does not take.
 */
function toDistributed(sql: Query): Query[] {
  if (typeof sql !== "string") return [sql];
  const created = /^\s*create table (?:if not exists )?"?(\w+)"?/i.exec(sql)?.[1];
  const distribute = created === undefined ? undefined : distributeTableSql(created);
  const statement = sql.replace(/ on update cascade/gi, "");
  return distribute === undefined ? [statement] : [statement, distribute];
}
