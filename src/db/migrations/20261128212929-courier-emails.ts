import { Migration } from "@mikro-orm/migrations";

export class Migration20261128212929_courier_emails extends Migration {
  override up(): void {
    this.addSql(`alter table "courier" add "email" text null`);
  }
}
