import { Migration } from "@mikro-orm/migrations";

/** Apart from the table itself, so that workspaces and people are not locked at once. */
export class Migration20261123033201_saved_filters_of_people extends Migration {
  override name = "Migration20261123033201_saved_filters_of_people";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "saved_filter" add constraint "saved_filter_person_id_foreign" foreign key ("person_id") references "person" ("id");`,
    );
  }
}
