import { Migration } from "@mikro-orm/migrations";

export class Migration20261122201448_tariffs_honour_quotes extends Migration {
  override name = "Migration20261122201448_tariffs_honour_quotes";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "tariff_version" add column if not exists "honours_quotes" boolean not null default true;`,
    );
  }
}
