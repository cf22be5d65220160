import type { EntityManager } from "../../db/orm.ts";

/** The job that makes one attempt at one delivery. */
export const DELIVER_TASK = "deliver_webhook";

/** What such a job knows. */
export interface DeliverJob {
  readonly workspace: number;
  readonly delivery: number;
  /** Which attempt it is to make, from 1. */
  readonly attempt: number;
}

/**
 * The queue of a job, one at a time from each: a healthy webhook has four, so that the events of
 * one shipment go one after the other; a failing one has one, and comes after all healthy ones, so
 * that it takes the place of nobody who can be served.
 */
const QUEUE = {
  healthy: "'webhook ' || webhook.id || ' ' || (hashtext(delivered.subject) & 3)",
  failing: "'webhook ' || webhook.id",
};
const PRIORITY = { healthy: 0, failing: 10 };

const ADD_JOB = `graphile_worker.add_job(
  '${DELIVER_TASK}',
  json_build_object('workspace', delivered.workspace_id, 'delivery', delivered.id,
                    'attempt', delivered.attempts + 1),
  queue_name := case when webhook.failing_since is null then ${QUEUE.healthy} else ${QUEUE.failing} end,
  priority := case when webhook.failing_since is null then ${PRIORITY.healthy} else ${PRIORITY.failing} end,
  run_at := delivered.run_at)`;

/**
 * What the database does, in the same statement and transaction, whenever an event is written: a
 * delivery and its first job for each webhook that takes the event. So there is no event without
 * its deliveries, and none is sent whose change was not committed.
 */
export const ON_EVENT = `
declare
  webhook record;
  delivered record;
begin
  if new.type <> 'webhook.test' then
    for webhook in
      select * from webhook as candidate
      where candidate.workspace_id = new.workspace_id and candidate.disabled_reason is null
        and candidate.id <> new.subject
        and (candidate.types @> array['*'] or candidate.types @> array[new.type])
      order by candidate.id
    loop
      insert into webhook_delivery
        (workspace_id, webhook_id, subject, number, type, created_at, next_attempt_at)
      values
        (new.workspace_id, webhook.id, new.subject, new.number, new.type, new.created_at, new.created_at)
      returning *, null::timestamptz as run_at into delivered;
      perform ${ADD_JOB};
    end loop;
  end if;
  return null;
end;`;

/** Enqueues, in the caller's transaction, the next attempt at a delivery that is written already. */
export async function enqueueAttempt(
  tx: EntityManager,
  workspace: number,
  delivery: number,
  runAt: Date | null,
): Promise<void> {
  await tx.execute(
    `select ${ADD_JOB}
     from (select *, ?::timestamptz as run_at from webhook_delivery
           where workspace_id = ? and id = ?) as delivered
     join webhook on webhook.workspace_id = delivered.workspace_id
                 and webhook.id = delivered.webhook_id`,
    [runAt, workspace, delivery],
  );
}
