import { Migration } from "@mikro-orm/migrations";

export class Migration20261128183854_event_courier extends Migration {
  override up(): void {
    this.addSql(`alter table "event" add "courier" jsonb null`);
  }
}
