import { Migration } from "@mikro-orm/migrations";

/** Each statement is a transaction, so that no lock is held while the next one runs. */
export class Migration20261128212931_courier_emails_3 extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      `create index if not exists "courier_link_due" on "courier_link" ("next_attempt_at") where state = 'waiting'`,
    );
    this.addSql(
      `create index if not exists "courier_link_emailed" on "courier_link" ("workspace_id", "created_at") where state is not null`,
    );
    this.addSql(`alter table "courier_link" validate constraint "courier_link_state"`);
  }
}
