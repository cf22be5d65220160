import { Migration } from "@mikro-orm/migrations";

/** Not in a transaction, so that nobody waits while the table is read. Can be repeated. */
export class Migration20261122205500_shipment_windows extends Migration {
  override name = "Migration20261122205500_shipment_windows";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(`alter table "shipment"
      add column if not exists "window_fee_minor" bigint not null default '0',
      add column if not exists "windows" jsonb null;`);
    // Holds for replicas of the release before, whose bookings have no windows.
    this.addSql(`alter table "shipment"
      drop constraint if exists "shipment_amounts_positive",
      drop constraint if exists "shipment_amounts_add_up",
      add constraint "shipment_amounts_add_up" check (least(distance_fee_minor, weight_fee_minor, base_fee_minor, window_fee_minor) >= 0 and subtotal_minor = distance_fee_minor + weight_fee_minor and total_minor = greatest(subtotal_minor, base_fee_minor) + window_fee_minor) not valid;`);
    this.addSql(`alter table "shipment" validate constraint "shipment_amounts_add_up";`);
  }
}
