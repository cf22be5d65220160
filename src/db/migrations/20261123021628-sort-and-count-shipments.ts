import { Migration } from "@mikro-orm/migrations";

/**
 * Not in a transaction, so that writing waits for one index at a time. (`concurrently` would wait for replicas
 * that wait for this migration.) Can be repeated: what ends early leaves no part of an index.
 */
export class Migration20261123021628_sort_and_count_shipments extends Migration {
  override name = "Migration20261123021628_sort_and_count_shipments";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(
      `create index if not exists "shipment_failed" on "shipment" ("workspace_id", "payment_status", "created_at", "reference") where (payment_details ->> 'dispute' = 'open' or payment_status = 'refund_pending' and payment_details ->> 'refundError' is not null or payment_status = 'awaiting_payment' and payment_details ->> 'error' is not null and payment_details ->> 'processing' = 'false') and reference <> 'shipment_failed';`,
    );
    this.addSql(
      `create index if not exists "shipment_failed_of_customer" on "shipment" ("workspace_id", "customer_id", "created_at", "reference") where (payment_details ->> 'dispute' = 'open' or payment_status = 'refund_pending' and payment_details ->> 'refundError' is not null or payment_status = 'awaiting_payment' and payment_details ->> 'error' is not null and payment_details ->> 'processing' = 'false') and reference <> 'shipment_failed_of_customer';`,
    );
    this.addSql(
      `create index if not exists "shipment_due_by_total" on "shipment" ("workspace_id", "status", (total_minor), "created_at", "reference") where status <> 'delivered' and payment_status not in ('voided', 'refunded') and reference <> 'shipment_due_by_total';`,
    );
    this.addSql(
      `create index if not exists "shipment_due_by_pickup" on "shipment" ("workspace_id", "status", (coalesce(windows #>> '{pickup,start}', '') collate "C"), "created_at", "reference") where status <> 'delivered' and payment_status not in ('voided', 'refunded') and reference <> 'shipment_due_by_pickup';`,
    );
  }
}
