import { Migration } from "@mikro-orm/migrations";

export class Migration20261122235700_hear_events extends Migration {
  override name = "Migration20261122235700_hear_events";

  override up(): void | Promise<void> {
    this.addSql(`alter table "workspace" add "provider_account" text null;`);
  }
}
