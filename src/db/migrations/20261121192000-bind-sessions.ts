import { Migration } from "@mikro-orm/migrations";

export class Migration20261121192000_bind_sessions extends Migration {
  override name = "Migration20261121192000_bind_sessions";

  override up(): void | Promise<void> {
    this.addSql(`alter table "sign_in_link" add "workspace_id" bigint null;`);
    this.addSql(
      `alter table "sign_in_link" add constraint "sign_in_link_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;`,
    );

    this.addSql(`alter table "session" add "workspace_id" bigint null;`);
    this.addSql(
      `alter table "session" add constraint "session_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;`,
    );
  }
}
