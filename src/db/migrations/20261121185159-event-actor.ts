import { Migration } from "@mikro-orm/migrations";

export class Migration20261121185159_event_actor extends Migration {
  override name = "Migration20261121185159_event_actor";

  override up(): void | Promise<void> {
    this.addSql(`alter table "event" add "actor" text null;`);
  }
}
