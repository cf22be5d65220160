import { Migration } from "@mikro-orm/migrations";

export class Migration20261128063700_request_paths extends Migration {
  override up(): void {
    this.addSql(`alter table "api_request" add column if not exists "path" text null;`);
  }
}
