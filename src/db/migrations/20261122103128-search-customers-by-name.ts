import { Migration } from "@mikro-orm/migrations";

export class Migration20261122103128_search_customers_by_name extends Migration {
  override name = "Migration20261122103128_search_customers_by_name";

  override up(): void | Promise<void> {
    this.addSql(
      `create index "customer_by_name" on "customer" ("workspace_id", (lower("name") collate "C"), "id");`,
    );
    this.addSql(
      `create index "customer_by_last_word" on "customer" ("workspace_id", (lower(substring("name" from '[^ ]+\$')) collate "C"), "id") where "name" like '% %';`,
    );
  }
}
