import { Migration } from "@mikro-orm/migrations";

export class Migration20261122110000_key_scopes extends Migration {
  override name = "Migration20261122110000_key_scopes";

  override up(): void | Promise<void> {
    this.addSql(`alter table "api_key" add "scope" text not null default 'full';`);
    this.addSql(
      `alter table "api_key" add constraint "api_key_scope" check (scope in ('read_only', 'full'));`,
    );

    this.addSql(`alter table "operator_key" add "name" text null;`);
  }
}
