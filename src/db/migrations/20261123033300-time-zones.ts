import { Migration } from "@mikro-orm/migrations";

export class Migration20261123033300_time_zones extends Migration {
  override name = "Migration20261123033300_time_zones";

  override up(): void | Promise<void> {
    this.addSql(`alter table "workspace" add "time_zone" text not null default 'UTC';`);
  }
}
