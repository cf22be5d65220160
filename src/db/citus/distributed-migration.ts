import type { Migration } from "@mikro-orm/migrations";
import type { Constructor } from "@mikro-orm/postgresql";
import { distributeTableSql, SET_SEQUENTIAL } from "./distributed.ts";

/** Adapts a migration to a distributed database. */
export function forDistributed(migration: Constructor<ApplicableMigration>): Constructor<ApplicableMigration> {
  return class extends migration {
    override getQueries(): Query[] {
      return [SET_SEQUENTIAL, ...super.getQueries().flatMap(toDistributed)];
    }
  };
}

/** A migration with `up`, which the base class leaves abstract. */
interface ApplicableMigration extends Migration {
  up(): void | Promise<void>;
}

type Query = ReturnType<Migration["getQueries"]>[number];

/**
 * Adapts a migration statement to a distributed database. New tables with workspace data are
 * distributed before other tables refer to them. Foreign keys lose `on update cascade`, because ids
 * never change and Citus does not support it.
 */
function toDistributed(sql: Query): Query[] {
  if (typeof sql !== "string") return [sql];
  const created = /^\s*create table (?:if not exists )?"?(\w+)"?/i.exec(sql)?.[1];
  const distribute = created === undefined ? undefined : distributeTableSql(created);
  const statement = sql.replace(/ on update cascade/gi, "");
  return distribute === undefined ? [statement] : [statement, distribute];
}
