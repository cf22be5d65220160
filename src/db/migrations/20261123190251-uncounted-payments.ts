import { Migration } from "@mikro-orm/migrations";

/**
 * Each index is built before the one whose place it takes is dropped. Not in a transaction, so that bookings wait for
 * one index at a time. Can be repeated: what ends early is gone on with.
 */
export class Migration20261123190251_uncounted_payments extends Migration {
  override name = "Migration20261123190251_uncounted_payments";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(
      `create index if not exists "shipment_uncounted" on "shipment" ("workspace_id", "created_at", "reference") where coalesce(payment_details ->> 'uncounted', payment_details ->> 'unseen') is not null;`,
    );
    this.addSql(
      `create index if not exists "shipment_failing" on "shipment" ("workspace_id", "payment_status", "created_at", "reference") where (payment_details ->> 'dispute' = 'open' or payment_status = 'refund_pending' and payment_details ->> 'refundError' is not null or payment_status = 'awaiting_payment' and payment_details ->> 'error' is not null or coalesce(payment_details ->> 'uncounted', payment_details ->> 'unseen') is not null) and reference <> 'shipment_failed';`,
    );
    this.addSql(`drop index if exists "shipment_failed";`);
    this.addSql(`alter index if exists "shipment_failing" rename to "shipment_failed";`);
    this.addSql(
      `create index if not exists "shipment_failing_of_customer" on "shipment" ("workspace_id", "customer_id", "created_at", "reference") where (payment_details ->> 'dispute' = 'open' or payment_status = 'refund_pending' and payment_details ->> 'refundError' is not null or payment_status = 'awaiting_payment' and payment_details ->> 'error' is not null or coalesce(payment_details ->> 'uncounted', payment_details ->> 'unseen') is not null) and reference <> 'shipment_failed_of_customer';`,
    );
    this.addSql(`drop index if exists "shipment_failed_of_customer";`);
    this.addSql(
      `alter index if exists "shipment_failing_of_customer" rename to "shipment_failed_of_customer";`,
    );
  }
}
