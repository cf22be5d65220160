import { Migration } from "@mikro-orm/migrations";

/**
 * One index of shipments by both statuses, and one of customers, in the place of five. Each is built before those
 * whose place it takes are dropped. Not in a transaction, so that bookings wait for one index at a time. Can be
 * repeated: what ends early is gone on with.
 */
export class Migration20261123054729_fewer_indexes extends Migration {
  override name = "Migration20261123054729_fewer_indexes";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(
      `create index if not exists "shipment_of_customer" on "shipment" ("workspace_id", "customer_id", "status", "payment_status", "created_at", "reference") include ("currency", "total_minor");`,
    );
    this.addSql(`drop index if exists "shipment_by_customer_and_payment_status";`);
    this.addSql(`drop index if exists "shipment_by_customer_and_status";`);
    this.addSql(`drop index if exists "shipment_by_customer";`);
    this.addSql(`alter index if exists "shipment_of_customer" rename to "shipment_by_customer";`);
    this.addSql(
      `create index if not exists "shipment_in_state" on "shipment" ("workspace_id", "status", "payment_status", "created_at", "reference") where reference <> 'shipment_by_status';`,
    );
    this.addSql(`drop index if exists "shipment_by_payment_status";`);
    this.addSql(`drop index if exists "shipment_by_status";`);
    this.addSql(`alter index if exists "shipment_in_state" rename to "shipment_by_status";`);
  }
}
