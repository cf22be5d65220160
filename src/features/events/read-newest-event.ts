import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/**
 * Events are shown once every older transaction has ended. Found workspace by workspace through the
 * index of the feed, from its end.
 */
const READ = `
  select (extract(epoch from max(newest.created_at)) * 1000)::float8 as "createdMs"
  from workspace cross join lateral (
    select created_at from event
    where workspace_id = workspace.id
      and transaction < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    order by transaction desc, subject desc, number desc limit 1
  ) as newest`;

/** When the newest event that is shown was written, in milliseconds since the epoch; null for none. */
export async function readNewestEvent(em: EntityManager): Promise<number | null> {
  const [row] = await runStatement<{ createdMs: number | null }>(em.fork(), READ, []);
  return row!.createdMs;
}
