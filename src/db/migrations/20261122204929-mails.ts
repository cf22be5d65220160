import { Migration } from "@mikro-orm/migrations";

export class Migration20261122204929_mails extends Migration {
  override name = "Migration20261122204929_mails";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "mail" ("id" bigserial primary key, "kind" text not null, "state" text not null, "email" text not null, "workspace_id" bigint null, "created_at" timestamptz(3) not null, "next_attempt_at" timestamptz(3) not null, "attempts" int not null default 0);`,
    );
    this.addSql(`create index "mail_by_age" on "mail" ("created_at");`);
    this.addSql(`create index mail_asked on mail (id) where state = 'asked';`);
    this.addSql(`create index mail_due on mail (next_attempt_at) where state = 'waiting';`);
    this.addSql(`create index mail_of_email on mail (lower(email), created_at);`);
    this.addSql(
      `create index mail_of_workspace on mail (workspace_id, created_at) where workspace_id is not null;`,
    );

    this.addSql(
      `alter table "mail" add constraint "mail_kind" check (kind in ('sign_in', 'invitation'));`,
    );
    this.addSql(
      `alter table "mail" add constraint "mail_state" check (state in ('asked', 'waiting', 'sent', 'failed'));`,
    );
    this.addSql(
      `alter table "mail" add constraint "mail_workspace_of_invitation" check ((kind = 'invitation') = (workspace_id is not null));`,
    );
  }
}
