import { Migration } from "@mikro-orm/migrations";

export class Migration20261122102324_end_sign_ins extends Migration {
  override name = "Migration20261122102324_end_sign_ins";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "spent_attempt" ("hash" text not null, "ends_at" timestamptz(3) not null, primary key ("hash"));`,
    );
    this.addSql(`create index "spent_attempt_by_end" on "spent_attempt" ("ends_at");`);

    this.addSql(
      `alter table "sign_in_link" add "left_workspaces" bigint[] not null default '{}', add "made_by" text null;`,
    );

    this.addSql(`alter table "session" add "left_workspaces" bigint[] not null default '{}';`);

    this.addSql(
      `alter table "spent_attempt" add constraint "spent_attempt_hash_form" check (hash ~ '^[A-Za-z0-9_-]{43}\$');`,
    );
  }
}
