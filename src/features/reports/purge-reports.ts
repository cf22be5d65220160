import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** For how many days counts of calls are kept. */
export const USAGE_DAYS = 100;
/** How many rows one statement deletes, so that no transaction grows long. */
const BATCH = 5_000;

const PURGE_USAGE = `
  delete from usage_hour where (workspace_id, hour, limit_class) in (
    select workspace_id, hour, limit_class from usage_hour
    where hour < now() - make_interval(days => $1) order by hour limit $2 for update skip locked)
  returning 1`;

/**
 * Deletes counts of calls of more than 100 days ago, and replicas that were not seen for a day.
 *
 * @returns how many counts it deleted
 */
export async function purgeReports(em: EntityManager): Promise<number> {
  let count = 0;
  await runStatement(em, "delete from replica where seen_at < now() - interval '1 day'", []);
  let deleted: number;
  do {
    deleted = (await runStatement(em, PURGE_USAGE, [USAGE_DAYS, BATCH])).length;
    count += deleted;
  } while (deleted === BATCH);
  return count;
}
