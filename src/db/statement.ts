import { CompiledQuery } from "kysely";
import type { EntityManager } from "./orm.ts";

/**
 * Runs SQL whose values travel apart from its text, in the unit of work's transaction if there is
 * one. Unlike `em.execute`, which writes values into the text, this lets PostgreSQL plan a text
 * once for each connection (see `prepared-statements.ts`); so the text must not vary with its
 * values: pass lists as arrays.
 *
 * @param sql with `$1`, `$2`, ... for the values
 */
export async function runStatement<Row>(
  em: EntityManager,
  sql: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await em.getKysely().executeQuery<Row>(CompiledQuery.raw(sql, [...values]));
  return rows;
}
