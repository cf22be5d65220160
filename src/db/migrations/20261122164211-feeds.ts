import { Migration } from "@mikro-orm/migrations";

/** Apart from the change of events, so that no two tables which calls use are locked at once. */
export class Migration20261122164211_feeds extends Migration {
  override name = "Migration20261122164211_feeds";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "feed" ("workspace_id" bigint not null, "position" bigint not null default '0', "changed_at" timestamptz(3) not null, primary key ("workspace_id"));`,
    );
    this.addSql(
      `alter table "feed" add constraint "feed_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update cascade on delete cascade;`,
    );
  }
}
