import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { RETENTION, STORES, type Store } from "./stored-responses.ts";

/** How many responses one statement deletes, so that no transaction grows long. */
const BATCH = 1_000;

/**
 * Deletes the stored responses that have expired, by the database's clock. Replicas that purge at
 * the same time share the work.
 *
 * @returns how many it deleted
 */
export async function purgeStoredResponses(em: EntityManager): Promise<number> {
  let count = 0;
  for (const store of Object.values(STORES)) count += await purge(em, store);
  return count;
}

async function purge(em: EntityManager, { table, owner }: Store): Promise<number> {
  let count = 0;
  let purged: unknown[];
  do {
    purged = await runStatement(
      em,
      `delete from ${table} where (${owner}, key) in (
         select ${owner}, key from ${table} where created_at < now() - $1::interval
         order by created_at limit $2 for update skip locked
       ) returning 1`,
      [RETENTION, BATCH],
    );
    count += purged.length;
  } while (purged.length === BATCH);
  return count;
}
