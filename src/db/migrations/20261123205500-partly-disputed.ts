import { Migration } from "@mikro-orm/migrations";

/**
 * Has payments looked at again of which a dispute of a part was taken for one of all, so that the rest is refunded, and
 * notes which checkout took money that does not count, which was said without it.
 */
export class Migration20261123205500_partly_disputed extends Migration {
  override name = "Migration20261123205500_partly_disputed";

  override up(): void | Promise<void> {
    this.addSql(
      `update "provider_payment" set "due_at" = now() from "shipment" where "shipment"."workspace_id" = "provider_payment"."workspace_id" and "shipment"."reference" = "provider_payment"."shipment_reference" and "shipment"."payment_status" = 'refunded' and "shipment"."payment_details" ->> 'dispute' = 'lost' and "shipment"."payment_details" ->> 'disputedMinor' is null;`,
    );
    this.addSql(
      `update "shipment" set "payment_details" = jsonb_set("payment_details", '{uncounted}', to_jsonb("provider_payment"."version")) from "provider_payment" where "shipment"."workspace_id" = "provider_payment"."workspace_id" and "shipment"."reference" = "provider_payment"."shipment_reference" and "shipment"."payment_details" ->> 'uncounted' = 'true';`,
    );
  }
}
