import { Migration } from "@mikro-orm/migrations";

export class Migration20261121185933_reports extends Migration {
  override name = "Migration20261121185933_reports";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "replica" ("id" uuid not null, "host_name" text not null, "version" text not null, "node_version" text not null, "started_at" timestamptz(3) not null, "seen_at" timestamptz(3) not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "usage_hour" ("workspace_id" bigint not null, "hour" timestamptz(0) not null, "limit_class" text not null, "calls" bigint not null, primary key ("workspace_id", "hour", "limit_class"));`,
    );
    this.addSql(`create index "usage_hour_by_hour" on "usage_hour" ("hour");`);

    this.addSql(
      `alter table "replica" add constraint "replica_seen_after_start" check (seen_at >= started_at);`,
    );

    this.addSql(
      `alter table "usage_hour" add constraint "usage_hour_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(
      `alter table "usage_hour" add constraint "usage_hour_class" check (limit_class in ('quote', 'read', 'write'));`,
    );
    this.addSql(
      `alter table "usage_hour" add constraint "usage_hour_whole" check (extract(epoch from hour)::bigint % 3600 = 0);`,
    );
    this.addSql(
      `alter table "usage_hour" add constraint "usage_hour_calls_counted" check (calls >= 1);`,
    );
  }
}
