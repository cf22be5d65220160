import { Migration } from "@mikro-orm/migrations";

export class Migration20261122201449_honour_quotes extends Migration {
  override name = "Migration20261122201449_honour_quotes";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "used_quote" ("workspace_id" bigint not null, "quote_id" text not null, "reference" text not null, "used_at" timestamptz(3) not null, primary key ("workspace_id", "quote_id"));`,
    );
    this.addSql(`create index "used_quote_by_age" on "used_quote" ("used_at");`);
    this.addSql(
      `alter table "used_quote" add constraint "used_quote_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
  }
}
