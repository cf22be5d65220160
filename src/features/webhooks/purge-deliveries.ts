import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** How long ended deliveries and their attempts are kept, in milliseconds: 30 days. */
const RETENTION_MS = 30 * 24 * 60 * 60 * 1_000;
/** How many deliveries one statement deletes. */
const BATCH = 1_000;

const PURGE_DELIVERIES = `
  delete from webhook_delivery where (workspace_id, id) in (
    select workspace_id, id from webhook_delivery where ended_at < $1 order by ended_at limit $2)
  returning id`;

/** Deletes deliveries that ended more than 30 days ago, in batches, and says how many. */
export async function purgeDeliveries(em: EntityManager, now: Date): Promise<number> {
  let count = 0;
  const before = new Date(now.getTime() - RETENTION_MS);
  let deleted: number;
  do {
    deleted = (await runStatement(em, PURGE_DELIVERIES, [before, BATCH])).length;
    count += deleted;
  } while (deleted === BATCH);
  return count;
}
