import { Migration } from "@mikro-orm/migrations";

export class Migration20261122164212_feed_positions extends Migration {
  override name = "Migration20261122164212_feed_positions";

  override up(): void | Promise<void> {
    this.addSql(`drop trigger if exists "deliver" on "event";`);
    this.addSql(`drop function if exists "event_deliver_fn"();`);
    this.addSql(`alter table "event" add "position" bigint null;`);
    // What is there keeps as many positions: the next migration gives them, as that takes long.
    this.addSql(`insert into feed (workspace_id, position, changed_at)
      select workspace.id, coalesce(counted.events, 0), now()
      from workspace left join (
        select workspace_id, count(*) as events from event group by workspace_id
      ) as counted on counted.workspace_id = workspace.id;`);
    this
      .addSql(`create or replace function "event_take_position_fn"() returns trigger as \$\$ begin begin
  insert into feed (workspace_id, position, changed_at)
  values (new.workspace_id, 1, clock_timestamp())
  on conflict (workspace_id)
    do update set position = feed.position + 1, changed_at = excluded.changed_at
  returning position into new.position;   if new.type <> 'webhook.test' then
    insert into webhook_delivery
      (workspace_id, webhook_id, subject, number, type, created_at, next_attempt_at)
    select new.workspace_id, webhook.id, new.subject, new.number, new.type, new.created_at,
      clock_timestamp()
    from webhook
    where webhook.workspace_id = new.workspace_id and webhook.disabled_reason is null
      and webhook.id <> new.subject
      and (webhook.types @> array['*'] or webhook.types @> array[new.type])
    order by webhook.id;   end if;   return new; end; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "take_position" BEFORE INSERT on "event" for each ROW
  when (new.position is null) execute function "event_take_position_fn"();`);
  }
}
