import { Migration } from "@mikro-orm/migrations";

export class Migration20261128073500_membership_name extends Migration {
  override up(): void {
    this.addSql(`alter table "membership" add "name" text null, add "last_signed_in_at" timestamptz(3) null`);
  }
}
