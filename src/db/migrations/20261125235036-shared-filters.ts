import { Migration } from "@mikro-orm/migrations";

/** Each statement runs in its own transaction, so that no table is locked while its index is built. */
export class Migration20261125235036_shared_filters extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`alter table "saved_filter" add if not exists "shared" boolean not null default false`);
    this.addSql(
      `create index if not exists "saved_filter_shared" on "saved_filter" ("workspace_id", (lower("name"))) where "shared"`,
    );
  }
}
