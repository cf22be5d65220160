import { Migration } from "@mikro-orm/migrations";

export class Migration20261128223521_grouped_hours extends Migration {
  override up(): void {
    this.addSql(`alter table "booking_day" add "grouped_hours" jsonb not null default '[]'`);
  }
}
