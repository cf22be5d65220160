import type { EntityManager } from "../../db/orm.ts";
import { RETENTION } from "./stored-responses.ts";

/** How many responses one statement deletes, so that no transaction grows long. */
const BATCH = 1_000;

/**
 * Deletes the stored responses that have expired, by the database's clock. Replicas that purge at
 * the same time share the work.
 */
export async function purgeStoredResponses(em: EntityManager): Promise<void> {
  let purged: unknown[];
  do {
    purged = await em.fork().execute(
      `delete from kept_answer where (workspace_id, key) in (
         select workspace_id, key from kept_answer where created_at < now() - ?::interval
         order by created_at limit ? for update skip locked
       ) returning 1`,
      [RETENTION, BATCH],
    );
  } while (purged.length === BATCH);
}
