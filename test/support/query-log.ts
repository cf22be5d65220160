import type { EntityManager } from "../../src/db/orm.ts";

/** A query that the service sent, with its parameters so that tests can repeat it. */
export interface SentQuery {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** Returns the queries that a service sends while `work` runs, in order. Includes background queries. */
export async function queriesOf(em: EntityManager, work: () => Promise<unknown>): Promise<SentQuery[]> {
  const logger = em.config.getLogger();
  const sent: SentQuery[] = [];
  const { logQuery } = logger;
  logger.logQuery = (context) => {
    const { query, params = [] } = context as { query: string; params?: readonly unknown[] };
    sent.push({ sql: query, params });
  };
  try {
    await work();
  } finally {
    logger.logQuery = logQuery;
  }
  return sent;
}
