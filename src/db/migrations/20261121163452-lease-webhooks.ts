import { Migration } from "@mikro-orm/migrations";

export class Migration20261121163452_lease_webhooks extends Migration {
  override name = "Migration20261121163452_lease_webhooks";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "webhook_lease" ("workspace_id" bigint not null, "webhook_id" text not null, "worker" text not null, "leased_until" timestamptz(3) not null, primary key ("workspace_id", "webhook_id"));`,
    );

    this.addSql(
      `create index "webhook_delivery_due" on "webhook_delivery" ("workspace_id", "webhook_id", "next_attempt_at", "id") where status = 'pending';`,
    );

    this.addSql(`create or replace function "event_deliver_fn"() returns trigger as \$\$ begin begin
  if new.type <> 'webhook.test' then
    insert into webhook_delivery
      (workspace_id, webhook_id, subject, number, type, created_at, next_attempt_at)
    select new.workspace_id, webhook.id, new.subject, new.number, new.type, new.created_at,
      clock_timestamp()
    from webhook
    where webhook.workspace_id = new.workspace_id and webhook.disabled_reason is null
      and webhook.id <> new.subject
      and (webhook.types @> array['*'] or webhook.types @> array[new.type])
    order by webhook.id;   end if;   return null; end; end; \$\$ language plpgsql;`);

    this.addSql(
      `alter table "webhook_lease" add constraint "webhook_lease_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "webhook_lease" add constraint "webhook_lease_workspace_id_webhook_id_foreign" foreign key ("workspace_id", "webhook_id") references "webhook" ("workspace_id", "id") on update no action on delete cascade;`,
    );

    // Jobs were only attempts at pending deliveries, which say themselves when they are due.
    this.addSql(`drop schema if exists graphile_worker cascade;`);
  }
}
