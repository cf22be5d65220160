import { Migration } from "@mikro-orm/migrations";

const EVENT_DELIVER_FN = `create or replace function "event_deliver_fn"() returns trigger as \$\$ begin declare
  webhook record;   delivered record; begin
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
      returning *, null::timestamptz as run_at into delivered;       perform graphile_worker.add_job(
  'deliver_webhook',
  json_build_object('workspace', delivered.workspace_id, 'delivery', delivered.id,
                    'attempt', delivered.attempts + 1),
  queue_name := case when webhook.failing_since is null then 'webhook ' || webhook.id || ' ' || (hashtext(delivered.subject) & 3) else 'webhook ' || webhook.id end,
  priority := case when webhook.failing_since is null then 0 else 10 end,
  run_at := delivered.run_at);     end loop;   end if;   return null; end; end; \$\$ language plpgsql;`;

export class Migration20261121083749_events_and_webhooks extends Migration {
  override name = "Migration20261121083749_events_and_webhooks";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "webhook" ("workspace_id" bigint not null, "id" text not null, "url" text not null, "types" text[] not null, "secrets" jsonb not null, "disabled_reason" text null, "failing_since" timestamptz(3) null, "event_count" int not null default 0, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("workspace_id", "id"));`,
    );

    this.addSql(
      `create table "webhook_delivery" ("workspace_id" bigint not null, "id" bigserial not null, "webhook_id" text not null, "subject" text not null, "number" int not null, "type" text not null, "status" text not null default 'pending', "attempts" int not null default 0, "next_attempt_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "ended_at" timestamptz(3) null, primary key ("workspace_id", "id"));`,
    );
    this.addSql(
      `create index "webhook_delivery_by_age" on "webhook_delivery" ("workspace_id", "webhook_id", "id");`,
    );
    this.addSql(
      `create index "webhook_delivery_by_status" on "webhook_delivery" ("workspace_id", "webhook_id", "status", "id");`,
    );
    this.addSql(`create index "webhook_delivery_by_end" on "webhook_delivery" ("ended_at");`);

    this.addSql(
      `create table "webhook_attempt" ("workspace_id" bigint not null, "delivery_id" bigint not null, "number" int not null, "started_at" timestamptz(3) not null, "duration_ms" int not null, "status" int null, "error" text null, "answer" text null, primary key ("workspace_id", "delivery_id", "number"));`,
    );

    this.addSql(
      `create table "event" ("workspace_id" bigint not null, "subject" text not null, "number" int not null, "type" text not null, "data" jsonb not null, "created_at" timestamptz(3) not null, "transaction" bigint not null default ((pg_current_xact_id())::text)::bigint, primary key ("workspace_id", "subject", "number"));`,
    );
    this.addSql(
      `create index "event_feed" on "event" ("workspace_id", "transaction", "subject", "number");`,
    );

    this.addSql(`alter table "shipment" add "event_count" int not null default 0;`);

    this.addSql(
      `alter table "webhook" add constraint "webhook_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(
      `alter table "webhook" add constraint "webhook_disabled_reason" check (disabled_reason in ('request', 'gone', 'failing'));`,
    );
    this.addSql(
      `alter table "webhook" add constraint "webhook_types_given" check (cardinality(types) > 0);`,
    );

    this.addSql(
      `alter table "webhook_delivery" add constraint "webhook_delivery_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(
      `alter table "webhook_delivery" add constraint "webhook_delivery_workspace_id_webhook_id_foreign" foreign key ("workspace_id", "webhook_id") references "webhook" ("workspace_id", "id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "webhook_delivery" add constraint "webhook_delivery_status" check (status in ('pending', 'delivered', 'failed'));`,
    );
    this.addSql(
      `alter table "webhook_delivery" add constraint "webhook_delivery_pending_or_ended" check ((status = 'pending') = (ended_at is null) and (status = 'pending') = (next_attempt_at is not null));`,
    );

    this.addSql(
      `alter table "webhook_attempt" add constraint "webhook_attempt_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(
      `alter table "webhook_attempt" add constraint "webhook_attempt_workspace_id_delivery_id_foreign" foreign key ("workspace_id", "delivery_id") references "webhook_delivery" ("workspace_id", "id") on update no action on delete cascade;`,
    );

    this.addSql(
      `alter table "event" add constraint "event_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(
      `alter table "event" add constraint "event_number_counts_from_one" check (number >= 1);`,
    );
    this.addSql(EVENT_DELIVER_FN);
    this.addSql(
      `create trigger "deliver" AFTER INSERT on "event" for each ROW execute function "event_deliver_fn"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `alter table "webhook_delivery" drop constraint "webhook_delivery_workspace_id_webhook_id_foreign";`,
    );
    this.addSql(
      `alter table "webhook_attempt" drop constraint "webhook_attempt_workspace_id_delivery_id_foreign";`,
    );

    this.addSql(`drop table if exists "webhook" cascade;`);
    this.addSql(`drop table if exists "webhook_delivery" cascade;`);
    this.addSql(`drop table if exists "webhook_attempt" cascade;`);
    this.addSql(`drop trigger if exists "deliver" on "event";`);
    this.addSql(`drop function if exists "event_deliver_fn"();`);
    this.addSql(`drop table if exists "event" cascade;`);

    this.addSql(`alter table "shipment" drop column "event_count";`);
  }
}
