import { Migration } from "@mikro-orm/migrations";

export class Migration20261122171147_booking_days extends Migration {
  override name = "Migration20261122171147_booking_days";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "booking_roll_up" ("workspace_id" bigint not null, "position" bigint not null, "fill_before" timestamptz(3) null, "rest_until" timestamptz(3) not null, primary key ("workspace_id"));`,
    );

    this.addSql(
      `create table "booking_day" ("workspace_id" bigint not null, "date" date not null, "currency" char(3) not null, "bookings" bigint not null, "cancellations" bigint not null, "quoted" bigint not null, "paid_minor" bigint not null, "awaiting_minor" bigint not null, primary key ("workspace_id", "date", "currency"));`,
    );
    this.addSql(`create index "booking_day_by_date" on "booking_day" ("date");`);

    this.addSql(
      `alter table "booking_roll_up" add constraint "booking_roll_up_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update cascade on delete cascade;`,
    );

    this.addSql(
      `alter table "booking_day" add constraint "booking_day_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
  }
}
