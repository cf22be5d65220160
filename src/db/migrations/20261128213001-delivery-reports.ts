import { Migration } from "@mikro-orm/migrations";

export class Migration20261128213001_delivery_reports extends Migration {
  override up(): void {
    this.addSql(`alter table "shipment" add "dropoff_zone" text null`);
  }
}
