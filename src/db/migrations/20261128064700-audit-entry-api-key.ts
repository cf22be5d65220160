import { Migration } from "@mikro-orm/migrations";

export class Migration20261128064700_audit_entry_api_key extends Migration {
  override up(): void {
    this.addSql(`alter table "audit_entry" add column "api_key" jsonb null`);
  }
}
