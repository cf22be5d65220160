import type { EntityManager } from "../../db/orm.ts";

/** How long deliveries that have ended, and their attempts, are kept: 30 days. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
/** How many are removed at a time. */
const BATCH = 1_000;

const PURGE = `
  delete from webhook_delivery where (workspace_id, id) in (
    select workspace_id, id from webhook_delivery where ended_at < ? order by ended_at limit ?)
  returning id`;

/** Queues that no job is in; a deleted webhook leaves some. */
const FORGET_EMPTY_QUEUES = `
  delete from graphile_worker._private_job_queues as queue
  where locked_at is null
    and not exists (select from graphile_worker._private_jobs where job_queue_id = queue.id)`;

/** Removes what is no longer kept of deliveries, a little at a time. */
export async function purgeDeliveries(em: EntityManager, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  let removed: number;
  do {
    removed = (await em.fork().execute(PURGE, [before, BATCH])).length;
  } while (removed === BATCH);
  await em.fork().execute(FORGET_EMPTY_QUEUES);
}
