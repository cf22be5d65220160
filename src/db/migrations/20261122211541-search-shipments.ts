import { Migration } from "@mikro-orm/migrations";

/**
 * Not in a transaction, so that writing waits for one index at a time. (`concurrently` would wait for replicas
 * that wait for this migration.) Can be repeated: what ends early leaves no part of an index.
 */
export class Migration20261122211541_search_shipments extends Migration {
  override name = "Migration20261122211541_search_shipments";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(
      `create index if not exists "customer_search_email" on "customer" ("workspace_id", ("email_lower" collate "C"), "id");`,
    );
    this.addSql(
      `create index if not exists "shipment_search_external_reference" on "shipment" ("workspace_id", (left(lower("external_reference"), 60) collate "C"), "created_at" desc) where "external_reference" is not null;`,
    );
    this.addSql(
      `create index if not exists "shipment_search_pickup" on "shipment" ("workspace_id", (left(lower("pickup_address"), 60) collate "C"), "created_at" desc) where "pickup_address" <> '';`,
    );
    this.addSql(
      `create index if not exists "shipment_search_dropoff" on "shipment" ("workspace_id", (left(lower("dropoff_address"), 60) collate "C"), "created_at" desc) where "dropoff_address" <> '';`,
    );
  }
}
