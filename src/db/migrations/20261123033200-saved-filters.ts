import { Migration } from "@mikro-orm/migrations";

export class Migration20261123033200_saved_filters extends Migration {
  override name = "Migration20261123033200_saved_filters";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "saved_filter" ("id" bigserial primary key, "workspace_id" bigint not null, "person_id" bigint not null, "name" text not null, "query" text not null);`,
    );
    this.addSql(
      `create unique index "saved_filter_name" on "saved_filter" ("person_id", "workspace_id", (lower("name")));`,
    );

    this.addSql(
      `alter table "saved_filter" add constraint "saved_filter_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;`,
    );
  }
}
