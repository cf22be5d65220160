import { Migration } from "@mikro-orm/migrations";

/** Counts all bookings again, with their deliveries. */
export class Migration20261128213002_delivery_reports_2 extends Migration {
  override up(): void {
    this.addSql(`update "booking_roll_up" set "fill_before" = 'infinity'`);
  }
}
