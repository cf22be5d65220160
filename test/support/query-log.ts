import type { EntityManager } from "../../src/db/orm.ts";

/** A query as the service sent it, ready to be sent again. */
export interface SentQuery {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** The queries that a service sends while `work` runs, in the background too, in their order. */
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
