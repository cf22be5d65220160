import type { EntityManager } from "../../src/db/orm.ts";

/** A query as sent by the service, ready to be repeated. */
export interface SentQuery {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** Returns the queries that a service sends while `work` runs, including the background's, in order. */
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
  try {
    await work();
  } finally {
    logger.logQuery = logQuery;
  }
  return sent;
}
