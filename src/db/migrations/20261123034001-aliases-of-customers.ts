import { Migration } from "@mikro-orm/migrations";

/** Apart from the table itself, so that workspaces and customers are not locked at once. */
export class Migration20261123034001_aliases_of_customers extends Migration {
  override name = "Migration20261123034001_aliases_of_customers";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "customer_alias" add constraint "customer_alias_workspace_id_customer_id_foreign" foreign key ("workspace_id", "customer_id") references "customer" ("workspace_id", "id") on update no action on delete cascade;`,
    );
  }
}
