import { Migration } from "@mikro-orm/migrations";

export class Migration20261128184840_courier_settings extends Migration {
  override up(): void {
    this.addSql(
      `alter table "workspace" add "couriers_reorder_stops" boolean not null default false, add "couriers_share_location" boolean not null default true`,
    );
  }
}
