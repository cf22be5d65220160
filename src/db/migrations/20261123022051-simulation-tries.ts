import { Migration } from "@mikro-orm/migrations";

export class Migration20261123022051_simulation_tries extends Migration {
  override name = "Migration20261123022051_simulation_tries";

  override up(): void | Promise<void> {
    this.addSql(`drop index "simulation_due";`);
    this.addSql(
      `alter table "simulation" add "next_try_at" timestamptz(3) null, add "tries" int not null default 0;`,
    );
    this.addSql(`update "simulation" set "next_try_at" = "due_at";`);
    this.addSql(
      `create index "simulation_next_try" on "simulation" ("next_try_at") where next_try_at is not null;`,
    );
  }
}
