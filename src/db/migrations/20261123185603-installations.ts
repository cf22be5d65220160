import { Migration } from "@mikro-orm/migrations";

export class Migration20261123185603_installations extends Migration {
  override name = "Migration20261123185603_installations";

  override up(): void | Promise<void> {
    this.addSql(`create table "installation" ("id" text not null, primary key ("id"));`);
    this.addSql(`insert into "installation" ("id") values (gen_random_uuid()::text);`);
    this.addSql(`alter table "workspace" add "account_attempt" int not null default 1;`);
  }
}
