import { Migration } from "@mikro-orm/migrations";

export class Migration20261128064600_event_api_key extends Migration {
  override up(): void {
    this.addSql(`alter table "event" add column "api_key" jsonb null`);
  }
}
