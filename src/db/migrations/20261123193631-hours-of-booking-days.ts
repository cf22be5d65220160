import { Migration } from "@mikro-orm/migrations";

/** All days are counted again, from the newest back; until then reports of the platform are too low. */
export class Migration20261123193631_hours_of_booking_days extends Migration {
  override name = "Migration20261123193631_hours_of_booking_days";

  override up(): void | Promise<void> {
    this.addSql(`delete from "booking_day";`);
    this.addSql(`alter table "booking_day" add "hours" jsonb not null;`);
    this.addSql(`update "booking_roll_up" set "fill_before" = 'infinity', "rest_until" = now();`);
  }
}
