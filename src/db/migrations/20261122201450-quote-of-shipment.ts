import { Migration } from "@mikro-orm/migrations";

/** Apart from the change of tariff versions, which updates of shipments read once they have locked theirs. */
export class Migration20261122201450_quote_of_shipment extends Migration {
  override name = "Migration20261122201450_quote_of_shipment";

  override up(): void | Promise<void> {
    this.addSql(`alter table "shipment" add "quote_id" text null;`);
  }
}
