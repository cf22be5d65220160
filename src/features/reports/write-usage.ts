import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { UsageCounter } from "./usage-counter.ts";

/** How many rows one statement writes, so that none takes long. */
const BATCH = 5_000;

/**
 * All replicas write in one order, so that they cannot wait for each other in a circle. The hour is that
 * of the write, by the clock that they share.
 */
const WRITE = `
  insert into usage_hour as kept (workspace_id, hour, limit_class, calls)
  select counted.workspace, date_trunc('hour', now(), 'UTC'), counted."limitClass", counted.calls
  from json_to_recordset($1) as counted (workspace bigint, "limitClass" text, calls bigint)
  where exists (select from workspace where id = counted.workspace offset 0)
  order by counted.workspace, counted."limitClass"
  on conflict (workspace_id, hour, limit_class) do update set calls = kept.calls + excluded.calls`;

/**
 * Adds what has been counted to the table. What cannot be written stays counted; if the connection breaks
 * as the database commits, that batch is written again, and so counted twice.
 *
 * @throws the database's error
 */
export async function writeUsage(em: EntityManager, counter: UsageCounter): Promise<void> {
  const counted = counter.unwritten();
  for (let i = 0; i < counted.length; i += BATCH) {
    const batch = counted.slice(i, i + BATCH);
    await runStatement(em.fork(), WRITE, [JSON.stringify(batch)]);
    counter.written(batch);
  }
}
