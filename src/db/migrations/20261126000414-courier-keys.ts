import { Migration } from "@mikro-orm/migrations";

export class Migration20261126000414_courier_keys extends Migration {
  override up(): void {
    this.addSql(`alter table "api_key" drop constraint "api_key_scope",
      add constraint "api_key_scope" check (scope in ('read_only', 'courier', 'full'))`);
  }
}
