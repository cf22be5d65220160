import type { EntityManager } from "../../db/orm.ts";
import { deleteInBatches, runStatement } from "../../db/statement.ts";

/**
 * Selects the workspaces whose oldest event is too old. The index on positions finds the oldest
 * event, so no index on time is needed.
 */
const WORKSPACES_WITH_OLD_EVENTS = `
  select feed.workspace_id::float8 as id
  from feed cross join lateral (
    select created_at from event where event.workspace_id = feed.workspace_id
    order by position limit 1
  ) as oldest
  where oldest.created_at < now() - make_interval(days => $1::int)`;

const PURGE = `
  with oldest as (
    select subject, number, created_at from event where workspace_id = $1
    order by position limit $3
  )
  delete from event using oldest
  where event.workspace_id = $1 and event.subject = oldest.subject
    and event.number = oldest.number
    and oldest.created_at < now() - make_interval(days => $2::int)
  returning 1`;

/**
 * Deletes events that are older than `retentionDays` by the database's clock, in batches from the
 * beginning of each workspace's feed. Replicas can run it concurrently.
 *
 * @returns the number of deleted events
 */
export async function purgeEvents(em: EntityManager, retentionDays: number): Promise<number> {
  let count = 0;
  const workspaces = await runStatement<{ id: number }>(em, WORKSPACES_WITH_OLD_EVENTS, [retentionDays]);
  for (const { id } of workspaces) {
    count += await deleteInBatches(em, PURGE, [id, retentionDays]);
  }
  return count;
}
