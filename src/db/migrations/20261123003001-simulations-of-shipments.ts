import { Migration } from "@mikro-orm/migrations";

/** Apart from the table itself, so that workspaces and shipments are not locked at once. */
export class Migration20261123003001_simulations_of_shipments extends Migration {
  override name = "Migration20261123003001_simulations_of_shipments";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "simulation" add constraint "simulation_workspace_id_shipment_reference_foreign" foreign key ("workspace_id", "shipment_reference") references "shipment" ("workspace_id", "reference") on update no action on delete cascade;`,
    );
  }
}
