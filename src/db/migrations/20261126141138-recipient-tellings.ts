import { Migration } from "@mikro-orm/migrations";

export class Migration20261126141138_recipient_tellings extends Migration {
  override up(): void {
    this.addSql(`alter table "recipient_notice" add "tellings" int not null default 1`);
  }
}
