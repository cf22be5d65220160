import { Migration } from "@mikro-orm/migrations";

export class Migration20261123034000_customer_aliases extends Migration {
  override name = "Migration20261123034000_customer_aliases";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "customer_alias" ("workspace_id" bigint not null, "id" bigint not null, "name" text not null, "email_lower" text not null, "customer_id" bigint not null, "merged_at" timestamptz(3) not null, primary key ("workspace_id", "id"));`,
    );
    this.addSql(
      `create index "customer_alias_by_name" on "customer_alias" ("workspace_id", "name", "email_lower", "merged_at", "id");`,
    );
    this.addSql(
      `create index "customer_alias_of_customer" on "customer_alias" ("workspace_id", "customer_id");`,
    );

    this.addSql(
      `alter table "customer_alias" add constraint "customer_alias_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
  }
}
