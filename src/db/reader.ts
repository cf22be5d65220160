import type { MikroORM } from "@mikro-orm/postgresql";
import type { Pool } from "pg";

/**
 * Reads rows outside of any unit of work. What is only shown needs no identity map and no entities,
 * which cost ten times the query.
 */
export interface Reader {
  /**
   * The rows of a query, each an array of its columns' values in order.
   *
   * @param sql with `$1`, `$2`, ... for the values; prepared once for each connection, so the text
   * must not vary with the values
   */
  rows(sql: string, values: readonly unknown[]): Promise<unknown[][]>;
}

/** Builds a reader on the ORM's own connections. */
export function createReader(orm: MikroORM): Reader {
  let pool: Pool | undefined;
  const logger = orm.config.getLogger();
  return {
    async rows(sql, values) {
      pool ??= (await orm.driver.getConnection().getNativeClient()) as Pool;
      logger.logQuery({ level: "info", query: sql, params: values });
      const query = { text: sql, values: [...values], rowMode: "array" as const };
      return (await pool.query<unknown[]>(query)).rows;
    },
  };
}
