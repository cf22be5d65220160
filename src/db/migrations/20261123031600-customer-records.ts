import { Migration } from "@mikro-orm/migrations";

export class Migration20261123031600_customer_records extends Migration {
  override name = "Migration20261123031600_customer_records";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "customer" add "phone" text null, add "notes" text null, add "default_pickup" jsonb null, add "default_dropoff" jsonb null, add "version" int not null default 1;`,
    );
  }
}
