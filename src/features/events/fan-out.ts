/**
 * Trigger body: for each inserted event, inserts a delivery for every webhook that subscribes to its
 * type, in the same transaction. So every committed event has its deliveries, and nothing is sent
 * for a change that was rolled back.
 *
 * A delivery is due by the clock of the database, read while the event's subject is locked, so that
 * deliveries of one subject are due in the order of its events.
 */
export const FAN_OUT = `
begin
  if new.type <> 'webhook.test' then
    insert into webhook_delivery
      (workspace_id, webhook_id, subject, number, type, created_at, next_attempt_at)
    select new.workspace_id, webhook.id, new.subject, new.number, new.type, new.created_at,
      clock_timestamp()
    from webhook
    where webhook.workspace_id = new.workspace_id and webhook.disabled_reason is null
      and webhook.id <> new.subject
      and (webhook.types @> array['*'] or webhook.types @> array[new.type])
    order by webhook.id;
  end if;
  return null;
end;`;
