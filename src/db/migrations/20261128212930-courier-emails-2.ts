import { Migration } from "@mikro-orm/migrations";

export class Migration20261128212930_courier_emails_2 extends Migration {
  override up(): void {
    this.addSql(
      `alter table "courier_link" add "state" text null, add "next_attempt_at" timestamptz(3) null, add "attempts" int not null default 0`,
    );
    this.addSql(
      `alter table "courier_link" add constraint "courier_link_state" check (state in ('waiting', 'sent', 'failed')) not valid`,
    );
  }
}
