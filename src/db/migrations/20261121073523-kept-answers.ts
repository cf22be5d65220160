import { Migration } from "@mikro-orm/migrations";

export class Migration20261121073523_kept_answers extends Migration {
  override name = "Migration20261121073523_kept_answers";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "kept_answer" ("workspace_id" bigint not null, "key" text not null, "method" text not null, "request_digest" text not null, "response" bytea not null, "created_at" timestamptz(3) not null, primary key ("workspace_id", "key"));`,
    );
    this.addSql(`create index "kept_answer_by_age" on "kept_answer" ("created_at");`);

    this.addSql(
      `alter table "kept_answer" add constraint "kept_answer_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(
      `alter table "kept_answer" add constraint "kept_answer_key_form" check (key ~ '^[!-~]{1,255}\$');`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "kept_answer" cascade;`);
  }
}
