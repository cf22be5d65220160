import { Migration } from "@mikro-orm/migrations";

export class Migration20261125235036_shared_filters extends Migration {
  override up(): void {
    this.addSql(`alter table "saved_filter" add "shared" boolean not null default false`);
    this.addSql(
      `create index "saved_filter_shared" on "saved_filter" ("workspace_id", (lower("name"))) where "shared"`,
    );
  }
}
