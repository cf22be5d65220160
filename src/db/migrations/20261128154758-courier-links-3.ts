import { Migration } from "@mikro-orm/migrations";

export class Migration20261128154758_courier_links_3 extends Migration {
  override up(): void {
    this.addSql(
      `alter table "courier_link" add constraint "courier_link_workspace_id_courier_id_foreign" foreign key ("workspace_id", "courier_id") references "courier" ("workspace_id", "id") on update no action on delete no action`,
    );
  }
}
