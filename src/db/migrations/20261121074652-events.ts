import { Migration } from "@mikro-orm/migrations";

export class Migration20261121074652_events extends Migration {
  override name = "Migration20261121074652_events";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "event" ("workspace_id" bigint not null, "subject" text not null, "number" int not null, "type" text not null, "data" jsonb not null, "created_at" timestamptz(3) not null, "transaction" bigint not null default ((pg_current_xact_id())::text)::bigint, primary key ("workspace_id", "subject", "number"));`,
    );
    this.addSql(
      `create index "event_feed" on "event" ("workspace_id", "transaction", "subject", "number");`,
    );

    this.addSql(`alter table "shipment" add "event_count" int not null default 0;`);

    this.addSql(
      `alter table "event" add constraint "event_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(
      `alter table "event" add constraint "event_number_counts_from_one" check (number >= 1);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "event" cascade;`);

    this.addSql(`alter table "shipment" drop column "event_count";`);
  }
}
