import { Migration } from "@mikro-orm/migrations";

export class Migration20261122233833_test_clocks extends Migration {
  override name = "Migration20261122233833_test_clocks";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "test_clock" ("workspace_id" bigint not null, "frozen_at" timestamptz(3) null, "latest_at" timestamptz(3) not null, "moved_at" timestamptz(3) not null, primary key ("workspace_id"));`,
    );
    this.addSql(
      `create index "test_clock_frozen" on "test_clock" ("moved_at") where frozen_at is not null;`,
    );

    this.addSql(
      `alter table "test_clock" add constraint "test_clock_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update no action on delete no action;`,
    );
  }
}
