import { Migration } from "@mikro-orm/migrations";

/** Each statement is a transaction, so that no lock is held while the next one runs. */
export class Migration20261128154760_courier_links_5 extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`alter table "audit_entry" validate constraint "audit_entry_actor"`);
  }
}
