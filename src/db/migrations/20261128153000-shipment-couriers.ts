import { Migration } from "@mikro-orm/migrations";

/** Each statement is a transaction, so that no lock is held while the next one runs. */
export class Migration20261128153000_shipment_couriers extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(
      `create index if not exists "shipment_by_courier" on "shipment" ("workspace_id", (progress #>> '{courier,courierId}'), "status", "payment_status", "created_at", "reference") where progress #>> '{courier,courierId}' is not null and reference <> 'shipment_by_courier'`,
    );
    this.addSql(
      `create index if not exists "shipment_unassigned" on "shipment" ("workspace_id", "created_at", "reference") where status in ('awaiting_pickup', 'in_transit') and progress #>> '{courier,name}' is null and reference <> 'shipment_unassigned'`,
    );
  }
}
