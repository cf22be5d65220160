import { Migration } from "@mikro-orm/migrations";

/** Each statement runs in its own transaction, so that rows can be written while constraints are validated. */
export class Migration20261126001938_previews extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`alter table "usage_hour" drop constraint if exists "usage_hour_class",
      add constraint "usage_hour_class" check (limit_class in ('quote', 'read', 'write', 'preview')) not valid`);
    this.addSql(`alter table "usage_hour" validate constraint "usage_hour_class"`);
  }
}
