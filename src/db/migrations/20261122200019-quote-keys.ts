import { Migration } from "@mikro-orm/migrations";

export class Migration20261122200019_quote_keys extends Migration {
  override name = "Migration20261122200019_quote_keys";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "quote_key" ("id" int not null, "secret" text not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
  }
}
