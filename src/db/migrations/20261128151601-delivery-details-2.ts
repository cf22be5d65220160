import { Migration } from "@mikro-orm/migrations";

/** Each statement is a transaction, so that no lock is held while the next one runs. */
export class Migration20261128151601_delivery_details_2 extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`alter table "shipment" validate constraint "shipment_details"`);
  }
}
