import { Migration } from "@mikro-orm/migrations";

export class Migration20261122102221_quoted_bookings extends Migration {
  override name = "Migration20261122102221_quoted_bookings";

  override up(): void | Promise<void> {
    this.addSql(`alter table "shipment" add "quoted" boolean not null default false;`);
  }
}
