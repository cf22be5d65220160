import type { EntityManager } from "../../src/db/orm.ts";
import type { toStatement } from "../../src/db/parameterized-driver.ts";

/** A query as the service sent it, ready to be sent again. */
export interface SentQuery {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/**
 * The queries that a service sends while `work` runs, in their order: MikroORM's, and those written by
 * hand that it runs on `em` itself, as what goes on in the background does not.
 */
export async function queriesOf(
  em: EntityManager,
  work: () => Promise<unknown>,
): Promise<SentQuery[]> {
  const logger = em.config.getLogger();
  const sent: SentQuery[] = [];
  const { logQuery } = logger;
  logger.logQuery = (context) => {
    const { query, params = [] } = context as { query: string; params?: readonly unknown[] };
    sent.push({ sql: query, params });
  };
  const getKysely = em.getKysely.bind(em);
  em.getKysely = (() => ({
    executeQuery(statement: ReturnType<typeof toStatement>) {
      sent.push({ sql: statement.sql, params: statement.parameters });
      return getKysely().executeQuery(statement);
    },
  })) as never;
  try {
    await work();
  } finally {
    logger.logQuery = logQuery;
    em.getKysely = getKysely;
  }
  return sent;
}
