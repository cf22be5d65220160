import { Migration } from "@mikro-orm/migrations";

export class Migration20261122235500_simulated_failures extends Migration {
  override name = "Migration20261122235500_simulated_failures";

  override up(): void | Promise<void> {
    this.addSql(`alter table "webhook_delivery" add "simulated_failures" int null;`);
  }
}
