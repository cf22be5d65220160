import { Migration } from "@mikro-orm/migrations";

export class Migration20261128154757_courier_links_2 extends Migration {
  override up(): void {
    this.addSql(
      `alter table "courier_link" add constraint "courier_link_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id")`,
    );
  }
}
