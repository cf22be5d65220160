import { Migration } from "@mikro-orm/migrations";

export class Migration20261123191634_manual_replaced extends Migration {
  override name = "Migration20261123191634_manual_replaced";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "payment_connection" add "replaced_manual" boolean not null default false;`,
    );
  }
}
