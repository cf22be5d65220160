/** The task of jobs that make one attempt at a delivery. */
export const DELIVER_TASK = "deliver_webhook";

/**
 * Jobs of one queue run one at a time. A healthy webhook has four queues; all events of a shipment
 * go to the same one, so they are sent in order. A failing webhook has one queue at a lower
 * priority, so that it takes no workers from healthy ones.
 */
const QUEUE = {
  healthy: "'webhook ' || webhook.id || ' ' || (hashtext(delivered.subject) & 3)",
  failing: "'webhook ' || webhook.id",
};
const PRIORITY = { healthy: 0, failing: 10 };

/** SQL: adds the job of the next attempt at the delivery `delivered` to `webhook`. */
export const ADD_DELIVERY_JOB = `graphile_worker.add_job(
  '${DELIVER_TASK}',
  json_build_object('workspace', delivered.workspace_id, 'delivery', delivered.id,
                    'attempt', delivered.attempts + 1),
  queue_name := case when webhook.failing_since is null then ${QUEUE.healthy} else ${QUEUE.failing} end,
  priority := case when webhook.failing_since is null then ${PRIORITY.healthy} else ${PRIORITY.failing} end,
  run_at := delivered.run_at)`;

/**
 * Trigger body: for each inserted event, inserts a delivery and its first job for every webhook
 * that subscribes to its type, in the same transaction. So every committed event has its
 * deliveries, and nothing is sent for a change that was rolled back.
 */
export const FAN_OUT = `
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
      perform ${ADD_DELIVERY_JOB};
    end loop;
  end if;
  return null;
end;`;
