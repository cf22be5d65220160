import { CompiledQuery } from "kysely";
import type { EntityManager } from "./orm.ts";

/**
 * Runs SQL in the unit of work's transaction, if there is one. PostgreSQL plans each text once for a
 * connection, so the text must not vary with the values: pass lists as JSON.
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
